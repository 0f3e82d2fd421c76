// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/manifest_file.h"

#define POD "kind: Pod\nmetadata: {name: a}\n"

static const struct {
	const char *text;
	size_t objects, problems;
	bool is_broken, has_refused;
	const char *what; // start of the first problem
} cases[] = {
	{"", 0, 0, false, false, NULL},
	{POD, 1, 0, false, false, NULL},
	{POD "---\nkind: Service\n---\nkind: Node\nmetadata: {name: n}\n", 2, 0, false, false,
	 NULL},
	// Nothing of a file that is no YAML counts, also what stands before the mistake.
	{POD "---\na: [\n", 0, 1, true, false, "manifest dir/f.yaml:5:1: "},
	{POD "---\nmetadata: {name: b}\n", 1, 1, false, true,
	 "manifest dir/f.yaml:4:1: $.kind: missing"},
	{POD "---\nkind: Pod\nmetadata: {name: -}\n", 1, 1, false, true,
	 "manifest dir/f.yaml:4:1: "},
	{"kind: Node\nmetadata: {name: n}\nspec: {podCIDRs: [x/1, 10.0.0.0/24]}\n", 1, 1, false,
	 false, "manifest dir/f.yaml:1:1: node n: $.spec.podCIDRs[0]: `x/1` is no pod range"},
	{"kind: List\nitems:\n- {kind: Pod, metadata: {name: a}}\n- {kind: Pod, metadata: {}}\n", 1,
	 1, false, true, "manifest dir/f.yaml:1:1: Pod: $.items[1].metadata.name: missing"},
	{"just text", 0, 1, false, true,
	 "manifest dir/f.yaml:1:1: $: expected a Kubernetes object"},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(manifest_file_fini) struct manifest_file file = {0};
		const char *what;

		manifest_file_parse(&file, "dir/f.yaml", cases[i].text, strlen(cases[i].text));
		what = file.problems.count ? file.problems.at[0].what : "";
		if (file.count != cases[i].objects || file.problems.count != cases[i].problems ||
		    file.is_broken != cases[i].is_broken ||
		    file.has_refused != cases[i].has_refused ||
		    strncmp(what, cases[i].what ? cases[i].what : "",
			    cases[i].what ? strlen(cases[i].what) : 0))
			fail_msg("%s: %zu objects, %zu problems, `%s`", cases[i].text, file.count,
				 file.problems.count, what);
	}
}

static char *folder;

static int setup(void **state)
{
	static char template[64];

	(void)state;
	snprintf(template, sizeof(template), "/tmp/manifest-file-XXXXXX");
	folder = mkdtemp(template);
	return folder ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void check_broken(const char *path, const char *part)
{
	_cleanup_(manifest_file_fini) struct manifest_file file = {0};

	assert_int_equal(manifest_file_read(&file, path), MANIFEST_FILE_READ);
	assert_true(file.is_broken);
	assert_int_equal(file.problems.count, 1);
	if (!strstr(file.problems.at[0].what, part))
		fail_msg("`%s`, not `%s`", file.problems.at[0].what, part);
}

// What is no regular file is refused and never waited for.
static void test_special_files(void **state)
{
	_cleanup_(manifest_file_fini) struct manifest_file file = {0};
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/f.yaml", folder);
	assert_int_equal(manifest_file_read(&file, path), MANIFEST_FILE_GONE);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_broken(path, ":1:1: read: Invalid argument");
	assert_int_equal(unlink(path), 0);
	check_broken(folder, ":1:1: read: Invalid argument");
}

static void test_too_long(void **state)
{
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/f.yaml", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), (4 << 20) + 1), 0);
	fclose(f);
	check_broken(path, "longer than 4194304 bytes");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test_setup_teardown(test_special_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
