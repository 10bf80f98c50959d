// Each function jumps through its pointer, with the arguments where they are.
// Hidden: libraries that link to libnvidia-ml.so.1 keep its own functions.
#define FUNCTION(name) .globl name; .hidden name; .type name, @function; name: jmp *quern_pointer_##name(%rip); .size name, .-name;

.text
#include "functions.h"

.section .note.GNU-stack, "", @progbits
