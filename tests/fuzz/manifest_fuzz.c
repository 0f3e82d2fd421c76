// SPDX-License-Identifier: Apache-2.0
// needs: agent
// Any text as a manifest: YAML reader, decoder and compiler. What is accepted must compile to text
// that the JSON reader takes, and must say the same when it is read again.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "compile/compile.h"
#include "json/jget.h"
#include "source/manifest_file.h"

static void check_compiled(int r, char *text)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	_free_ char *owned = text;
	struct jlimits limits = {.bytes = 1 << 20, .depth = 8};

	if (r == COMPILE_DONE)
		assert(jdoc_parse(owned, strlen(owned), &limits, &doc, NULL) == 0);
}

static void check_object(const struct object *obj)
{
	const struct compile_env env = {.self = "n1"};
	char *set = NULL, *del = NULL;
	int r = compile_set(obj, &env, &set);

	check_compiled(r, set);
	r = compile_del(obj, &del);
	check_compiled(r, del);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(manifest_file_fini) struct manifest_file file = {0}, again = {0};

	manifest_file_parse(&file, "fuzz.yaml", (const char *)data, size);
	manifest_file_parse(&again, "fuzz.yaml", (const char *)data, size);
	assert(!file.is_broken || (file.count == 0 && file.problems.count == 1));
	assert(file.count == again.count);
	assert(problem_list_is_equal(&file.problems, &again.problems));
	for (size_t i = 0; i < file.count; i++) {
		assert(object_is_equal(file.objects[i], again.objects[i]));
		check_object(file.objects[i]);
	}
	return 0;
}
