// SPDX-License-Identifier: Apache-2.0
// Versions of the CNI specification that the plugin speaks, and what each of them allows.
// Pure functions on constant data.
#pragma once

// In order of age, so that versions compare with < and >=.
enum cni_version {
	CNI_VERSION_UNKNOWN = -1,
	CNI_VERSION_0_1_0,
	CNI_VERSION_0_2_0,
	CNI_VERSION_0_3_0,
	CNI_VERSION_0_3_1,
	CNI_VERSION_0_4_0,
	CNI_VERSION_1_0_0,
	CNI_VERSION_1_1_0,
	CNI_VERSION_COUNT,
};

// CNI_VERSION_UNKNOWN where the text is none of ours.
enum cni_version cni_version_parse(const char *text);
// Text of a known version ("1.0.0"), static.
const char *cni_version_name(enum cni_version version);
// All versions as one text, oldest first, for error details: `"0.1.0" ... "1.1.0"`, static.
const char *cni_version_list(void);
