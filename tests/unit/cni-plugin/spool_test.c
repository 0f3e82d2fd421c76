// SPDX-License-Identifier: Apache-2.0
#include "spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cm.h"

static const struct attachment one = {"net", "c1", "eth0"};

static int make_dir(void **state)
{
	char *dir = strdup(P_tmpdir "/weft-spool-XXXXXX");

	*state = dir;
	return dir && mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char path[128];

	spool_remove(*state, &one, NULL);
	snprintf(path, sizeof(path), "%s/spool", (char *)*state);
	rmdir(path);
	rmdir(*state);
	free(*state);
	return 0;
}

static void entry_path(const char *dir, char path[128])
{
	char hash[ATTACHMENT_HASH_MAX];

	snprintf(path, 128, "%s/spool/%s.json", dir, attachment_hash(&one, hash));
}

static void writes_and_removes(void **state)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(4096);
	struct err err = ERR_INIT;
	char path[128];
	struct stat st;

	assert_false(spool_has(*state, &one));
	assert_int_equal(spool_write(*state, &one, &err), 0);
	assert_int_equal(spool_write(*state, &one, &err), 0);
	assert_true(spool_has(*state, &one));
	entry_path(*state, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(buf_read_file(&text, path), 0);
	assert_string_equal(text.data,
			    "{\"network\":\"net\",\"container_id\":\"c1\",\"ifname\":\"eth0\"}");
	*strrchr(path, '/') = 0;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(spool_remove(*state, &one, &err), 0);
	assert_false(spool_has(*state, &one));
	assert_int_equal(spool_remove(*state, &one, &err), 0);
}

static void takes_any_id(void **state)
{
	char id[1024];
	const struct attachment a = {"net", id, "eth0"};
	struct err err = ERR_INIT;

	memset(id, 'a', sizeof(id) - 1);
	id[sizeof(id) - 1] = 0;
	assert_int_equal(spool_write(*state, &a, &err), 0);
	assert_true(spool_has(*state, &a));
	assert_int_equal(spool_remove(*state, &a, &err), 0);
}

static void reports_what_it_cannot_write(void **state)
{
	struct err err = ERR_INIT;
	char *longer = malloc(5000);

	(void)state;
	assert_true(spool_write("/dev/null", &one, &err) < 0);
	assert_non_null(strstr(err.text, "/dev/null"));
	assert_false(spool_has("/dev/null", &one));
	assert_int_equal(spool_remove("/dev/null", &one, &err), 0);
	assert_non_null(longer);
	memset(longer, '/', 4999);
	longer[4999] = 0;
	assert_int_equal(spool_write(longer, &one, &err), -ENAMETOOLONG);
	assert_false(spool_has(longer, &one));
	free(longer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_and_removes, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(takes_any_id, make_dir, drop_dir),
		cmocka_unit_test(reports_what_it_cannot_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
