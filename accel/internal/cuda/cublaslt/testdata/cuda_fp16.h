// See driver_types.h.
typedef struct { unsigned short x; } __half;
