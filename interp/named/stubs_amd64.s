#include "textflag.h"

// STUB is stub i. DX has the function value in a call of one, which begins with the address of its code.
#define STUB(i) PCALIGN $16; MOVQ ·slots+(8*(i))(SB), DX; JMP (DX)
#define STUB2(i) STUB(i); STUB((i)+1)
#define STUB4(i) STUB2(i); STUB2((i)+2)
#define STUB8(i) STUB4(i); STUB4((i)+4)
#define STUB16(i) STUB8(i); STUB8((i)+8)
#define STUB32(i) STUB16(i); STUB16((i)+16)
#define STUB64(i) STUB32(i); STUB32((i)+32)
#define STUB128(i) STUB64(i); STUB64((i)+64)
#define STUB256(i) STUB128(i); STUB128((i)+128)
#define STUB512(i) STUB256(i); STUB256((i)+256)
#define STUB1024(i) STUB512(i); STUB512((i)+512)
#define STUB2048(i) STUB1024(i); STUB1024((i)+1024)
#define STUB4096(i) STUB2048(i); STUB2048((i)+2048)
#define STUB8192(i) STUB4096(i); STUB4096((i)+4096)
#define STUB16384(i) STUB8192(i); STUB8192((i)+8192)
#define STUB32768(i) STUB16384(i); STUB16384((i)+16384)
#define STUB65536(i) STUB32768(i); STUB32768((i)+32768)

TEXT ·stubs(SB), NOSPLIT|NOFRAME, $0-0
	STUB65536(0)

TEXT ·firstStub(SB), NOSPLIT, $0-8
	LEAQ ·stubs(SB), AX
	MOVQ AX, ret+0(FP)
	RET
