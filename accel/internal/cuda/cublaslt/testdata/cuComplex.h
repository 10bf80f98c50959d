// See driver_types.h.
typedef struct { float x, y; } cuComplex;
typedef struct { double x, y; } cuDoubleComplex;
