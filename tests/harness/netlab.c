// SPDX-License-Identifier: Apache-2.0
#include "harness/netlab.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fdio.h"
#include "io/psock.h"
#include "netlink/link.h"
#include "netlink/rtnl.h"

#define VNET_LEN 10
#define RECV_MS 2000

static int fresh_netns(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	(void)fdio_write_text("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	(void)fdio_write_text("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int netlab_start(struct netlab *lab)
{
	*lab = (struct netlab){.host_fd = -1, .pod_fd = -1};
	lab->pod_fd = fresh_netns();
	if (lab->pod_fd < 0)
		return lab->pod_fd;
	lab->host_fd = fresh_netns();
	if (lab->host_fd < 0)
		return lab->host_fd;
	int r = rtnl_open_in(lab->host_fd, &lab->host, NULL);
	return r < 0 ? r : rtnl_open_in(lab->pod_fd, &lab->pod, NULL);
}

void netlab_stop(struct netlab *lab)
{
	rtnl_close(lab->host);
	rtnl_close(lab->pod);
	if (lab->host_fd >= 0)
		close(lab->host_fd);
	if (lab->pod_fd >= 0)
		close(lab->pod_fd);
}

static int open_pod(struct netlab *lab, const char *name, struct netlab_veth *v)
{
	struct link_info info;
	int r = link_get_by_name(lab->pod, name, &info, NULL);
	if (r != 0)
		return r < 0 ? r : -ENODEV;
	v->pod_ifindex = info.ifindex;
	v->pod_sock = psock_open_in(lab->pod_fd, NULL);
	if (v->pod_sock < 0)
		return v->pod_sock;
	(void)psock_set_rcvbuf(v->pod_sock, 16 << 20, NULL);
	// A socket that is bound to a link that is down has an error waiting.
	r = netlab_set_up(lab, v, true, true);
	return r < 0 ? r : psock_bind_one(v->pod_sock, info.ifindex, NULL);
}

int netlab_add(struct netlab *lab, unsigned number, uint32_t ifindex, struct netlab_veth *ret)
{
	char host[LINK_NAME_MAX], pod[LINK_NAME_MAX];
	snprintf(host, sizeof(host), "h%u", number);
	snprintf(pod, sizeof(pod), "p%u", number);
	*ret = (struct netlab_veth){.pod_sock = -1};
	// The host end is the peer here, because the peer's index can be asked for.
	struct link_veth v = {
		.name = pod,
		.peer_name = host,
		.peer_netns_fd = lab->host_fd,
		.peer_ifindex = ifindex,
		.mtu = 1500,
	};
	struct link_info info;
	int r = link_add_veth(lab->pod, &v, NULL);
	if (r == 0)
		r = link_get_by_name(lab->host, host, &info, NULL);
	if (r != 0)
		return r < 0 ? r : -EEXIST;
	ret->ifindex = info.ifindex;
	r = netlab_set_up(lab, ret, false, true);
	return r < 0 ? r : open_pod(lab, pod, ret);
}

void netlab_del(struct netlab *lab, struct netlab_veth *v)
{
	if (v->pod_sock >= 0)
		close(v->pod_sock);
	v->pod_sock = -1;
	(void)link_del(lab->host, v->ifindex, NULL);
}

int netlab_set_up(struct netlab *lab, const struct netlab_veth *v, bool pod_end, bool up)
{
	struct link_change c = {
		.ifindex = pod_end ? v->pod_ifindex : v->ifindex,
		.up = up,
		.noarp = -1,
	};
	return link_set(pod_end ? lab->pod : lab->host, &c, NULL);
}

void netlab_frame(uint8_t *frame, uint32_t len, uint32_t number)
{
	static const uint8_t head[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), &number, sizeof(number));
	for (uint32_t i = sizeof(head) + sizeof(number); i < len; i++)
		frame[i] = (uint8_t)(i * 7 + number);
}

uint32_t netlab_number(const uint8_t *frame)
{
	uint32_t number;
	memcpy(&number, frame + 14, sizeof(number));
	return number;
}

int netlab_send(const struct netlab_veth *v, const uint8_t *frame, uint32_t len, const void *vnet)
{
	static const uint8_t none[VNET_LEN];
	struct iovec iov[2] = {
		{.iov_base = (void *)(vnet ? vnet : none), .iov_len = VNET_LEN},
		{.iov_base = (void *)frame, .iov_len = len},
	};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	return sendmsg(v->pod_sock, &msg, 0) < 0 ? -errno : 0;
}

void netlab_forget_error(const struct netlab_veth *v)
{
	int error;
	socklen_t size = sizeof(error);
	(void)getsockopt(v->pod_sock, SOL_SOCKET, SO_ERROR, &error, &size);
}

int netlab_recv(const struct netlab_veth *v, uint8_t *buf, uint32_t size)
{
	struct pollfd fd = {.fd = v->pod_sock, .events = POLLIN};
	if (poll(&fd, 1, RECV_MS) <= 0)
		return -ETIMEDOUT;
	ssize_t r = recv(v->pod_sock, buf, size, MSG_DONTWAIT);
	return r < 0 ? -errno : (int)r;
}
