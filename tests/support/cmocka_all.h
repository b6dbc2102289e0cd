/* cmocka wants these before its own header. */
#ifndef ND_TESTS_CMOCKA_ALL_H
#define ND_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
