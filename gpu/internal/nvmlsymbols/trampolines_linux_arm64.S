// Each function jumps through its pointer, with the arguments where they are; x16
// is free between a call and its target. Hidden: libraries that link to
// libnvidia-ml.so.1 keep its own functions.
#define FUNCTION(name) .globl name; .hidden name; .type name, %function; name: adrp x16, quern_pointer_##name; ldr x16, [x16, :lo12:quern_pointer_##name]; br x16; .size name, .-name;

.text
#include "functions.h"

.section .note.GNU-stack, "", %progbits
