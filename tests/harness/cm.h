// SPDX-License-Identifier: Apache-2.0
// cmocka with the headers it wants in front of it.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
