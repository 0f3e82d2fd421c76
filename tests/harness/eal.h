// SPDX-License-Identifier: Apache-2.0
// A small EAL for tests: no hugepages, no shared files, no devices. Once per process.
#pragma once

// 0 or a negative number.
int test_eal_start(void);
