// SPDX-License-Identifier: Apache-2.0
#include "cni_version.h"

#include <string.h>

#include "base/compiler.h"

// The lists below name the same versions in the same order.
static const char *const names[CNI_VERSION_COUNT] = {
	[CNI_VERSION_0_1_0] = "0.1.0", [CNI_VERSION_0_2_0] = "0.2.0", [CNI_VERSION_0_3_0] = "0.3.0",
	[CNI_VERSION_0_3_1] = "0.3.1", [CNI_VERSION_0_4_0] = "0.4.0", [CNI_VERSION_1_0_0] = "1.0.0",
	[CNI_VERSION_1_1_0] = "1.1.0",
};

enum cni_version cni_version_parse(const char *text)
{
	for (int i = 0; i < CNI_VERSION_COUNT; i++) {
		if (strcmp(text, names[i]) == 0)
			return (enum cni_version)i;
	}
	return CNI_VERSION_UNKNOWN;
}

const char *cni_version_name(enum cni_version version)
{
	return names[version];
}

const char *cni_version_list(void)
{
	return "\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\" \"0.4.0\" \"1.0.0\" \"1.1.0\"";
}
