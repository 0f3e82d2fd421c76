// SPDX-License-Identifier: Apache-2.0
#include "cni_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"

LOG_MODULE("log");

void cni_log_open(const struct cni_conf *conf)
{
	enum log_level level = conf->log_file[0] ? LOG_LEVEL_INFO : LOG_LEVEL_WARN;
	int fd;

	log_set_level(LOG_LEVEL_WARN);
	if (conf->log_level[0] && log_level_parse(conf->log_level, &level) < 0)
		LOG_WARN("unknown logLevel", "value=%.64s", conf->log_level);
	if (conf->log_file[0]) {
		// A FIFO without a reader must not hold a pod up.
		fd = open(conf->log_file,
			  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
		if (fd < 0)
			LOG_WARN("cannot open logFile", "path=%.256s reason=\"%s\"",
				 conf->log_file, strerror(errno));
		else
			log_set_fd(fd);
	}
	log_set_level(level);
}
