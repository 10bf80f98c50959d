#include "textflag.h"

// func Current() Identity
TEXT ·Current(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
