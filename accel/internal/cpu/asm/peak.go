package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peak generates independent multiply-adds: as many chains as there are registers for.
func peak(s isa) {
	chains := 12
	if s.wide() {
		chains = 24
	}
	name := "fma" + s.name
	TEXT(name, NOSPLIT, "func(n int)")
	Doc(fmt.Sprintf("%s does %d fused multiplications and additions of vectors in registers, n times.", name, chains))
	n := parameter("n")
	acc := s.cleared(chains)
	a, b := s.zero(), s.zero()
	loop("loop")
	for i := range acc {
		VFMADD231PS(a, b, acc[i])
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	end()
}
