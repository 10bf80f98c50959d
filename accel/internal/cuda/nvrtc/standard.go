package nvrtc

// standard are headers of the C library that programs for nvcc include, with what kernels use of them. NVRTC declares the functions itself,
// but contains no such header.
var standard = []struct {
	names []string
	text  string
}{
	{[]string{"stdio.h", "cstdio", "stdlib.h", "cstdlib", "string.h", "cstring", "assert.h", "cassert", "stddef.h", "cstddef"}, "#pragma once\n"},
	{[]string{"math.h", "cmath"}, mathText},
	{[]string{"stdint.h", "cstdint"}, `#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
`},
	{[]string{"limits.h", "climits"}, `#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
`},
	{[]string{"float.h", "cfloat"}, `#pragma once
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
`},
}

// mathText is what nvcc declares in each program.
const mathText = `#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_E
#define M_E 2.7182818284590452354
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif
`
