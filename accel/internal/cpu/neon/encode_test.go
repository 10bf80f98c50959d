package main

import (
	"strings"
	"testing"
)

// TestEncodings compares every encoding with what LLVM's assembler gives for the instruction (llvm-mc -arch=aarch64 -show-encoding).
func TestEncodings(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range []struct {
		instruction string
		got, want   uint32
	}{
		{"fadd v1.4s, v2.4s, v3.4s", word("FADD", 1, 2, 3), 0x4e23d441},
		{"fsub v31.4s, v30.4s, v29.4s", word("FSUB", 31, 30, 29), 0x4ebdd7df},
		{"fmul v1.4s, v2.4s, v3.4s", word("FMUL", 1, 2, 3), 0x6e23dc41},
		{"fdiv v4.4s, v5.4s, v6.4s", word("FDIV", 4, 5, 6), 0x6e26fca4},
		{"fmax v7.4s, v8.4s, v9.4s", word("FMAX", 7, 8, 9), 0x4e29f507},
		{"fmin v10.4s, v11.4s, v12.4s", word("FMIN", 10, 11, 12), 0x4eacf56a},
		{"fmla v13.4s, v14.4s, v15.4s", word("FMLA", 13, 14, 15), 0x4e2fcdcd},
		{"fmls v16.4s, v17.4s, v18.4s", word("FMLS", 16, 17, 18), 0x4eb2ce30},
		{"fcmeq v19.4s, v20.4s, v21.4s", word("FCMEQ", 19, 20, 21), 0x4e35e693},
		{"fcmgt v22.4s, v23.4s, v24.4s", word("FCMGT", 22, 23, 24), 0x6eb8e6f6},
		{"faddp v25.4s, v26.4s, v27.4s", word("FADDP", 25, 26, 27), 0x6e3bd759},
		{"add v28.4s, v29.4s, v30.4s", word("ADD", 28, 29, 30), 0x4ebe87bc},
		{"sub v0.4s, v1.4s, v31.4s", word("SUB", 0, 1, 31), 0x6ebf8420},
		{"and v1.16b, v2.16b, v3.16b", word("AND", 1, 2, 3), 0x4e231c41},
		{"orr v4.16b, v5.16b, v6.16b", word("ORR", 4, 5, 6), 0x4ea61ca4},
		{"eor v7.16b, v8.16b, v9.16b", word("EOR", 7, 8, 9), 0x6e291d07},
		{"bsl v10.16b, v11.16b, v12.16b", word("BSL", 10, 11, 12), 0x6e6c1d6a},
		{"fmaxnm v13.4s, v14.4s, v15.4s", word("FMAXNM", 13, 14, 15), 0x4e2fc5cd},
		{"fadd v16.2d, v17.2d, v18.2d", word("FADD.D", 16, 17, 18), 0x4e72d630},
		{"faddp v19.2d, v20.2d, v21.2d", word("FADDP.D", 19, 20, 21), 0x6e75d693},
		{"fmaxp v1.4s, v2.4s, v3.4s", word("FMAXP", 1, 2, 3), 0x6e23f441},
		{"bic v4.16b, v5.16b, v6.16b", word("BIC", 4, 5, 6), 0x4e661ca4},
		{"uzp1 v7.4s, v8.4s, v9.4s", word("UZP1", 7, 8, 9), 0x4e891907},
		{"uzp2 v10.4s, v11.4s, v12.4s", word("UZP2", 10, 11, 12), 0x4e8c596a},
		{"zip1 v13.4s, v14.4s, v15.4s", word("ZIP1", 13, 14, 15), 0x4e8f39cd},
		{"zip2 v31.4s, v30.4s, v29.4s", word("ZIP2", 31, 30, 29), 0x4e9d7bdf},
		{"ldr q5, [x17, x3]", word("LDR.Q", 5, 17, 3), 0x3ce36a25},
		{"str q31, [x1, x25]", word("STR.Q", 31, 1, 25), 0x3cb9683f},
		{"fmul v9.4s, v1.4s, v31.s[2]", byElement("FMUL.E", 9, 1, 31, 2), 0x4f9f9829},
		{"umax v1.16b, v2.16b, v3.16b", word("UMAX", 1, 2, 3), 0x6e236441},
		{"mla v31.4s, v30.4s, v29.4s", word("MLA", 31, 30, 29), 0x4ebd97df},
		{"sdot v16.4s, v18.16b, v31.16b", word("SDOT", 16, 18, 31), 0x4e9f9650},
		{"scvtf v1.4s, v31.4s", word("SCVTF", 1, 31, 0), 0x4e21dbe1},
		{"fcvtns v2.4s, v30.4s", word("FCVTNS", 2, 30, 0), 0x4e21abc2},
		{"xtn v3.4h, v29.4s", word("XTN.16", 3, 29, 0), 0x0e612ba3},
		{"xtn v4.8b, v28.8h", word("XTN.8", 4, 28, 0), 0x0e212b84},
		{"sxtl v5.8h, v27.8b", word("SXTL.8", 5, 27, 0), 0x0f08a765},
		{"sxtl2 v6.8h, v26.16b", word("SXTL2.8", 6, 26, 0), 0x4f08a746},
		{"sxtl v7.4s, v25.4h", word("SXTL.16", 7, 25, 0), 0x0f10a727},
		{"sxtl2 v8.4s, v24.8h", word("SXTL2.16", 8, 24, 0), 0x4f10a708},
		{"sdot v15.4s, v19.16b, v27.4b[3]", byElement("SDOT.E", 15, 19, 27, 3), 0x4fbbea6f},
		{"sudot v0.4s, v18.16b, v20.4b[1]", byElement("SUDOT.E", 0, 18, 20, 1), 0x4f34f240},
		{"smlal v16.4s, v8.4h, v7.h[5]", byShort("SMLAL.E", 16, 8, 7, 5), 0x0f572910},
		{"smlal2 v31.4s, v8.8h, v0.h[2]", byShort("SMLAL2.E", 31, 8, 0, 2), 0x4f60211f},
		{"fabs v1.4s, v31.4s", word("FABS", 1, 31, 0), 0x4ea0fbe1},
		{"fsqrt v2.4s, v30.4s", word("FSQRT", 2, 30, 0), 0x6ea1fbc2},
		{"frintn v3.4s, v29.4s", word("FRINTN", 3, 29, 0), 0x4e218ba3},
		{"fcvtzs v4.4s, v28.4s", word("FCVTZS", 4, 28, 0), 0x4ea1bb84},
		{"ucvtf v5.4s, v27.4s", word("UCVTF", 5, 27, 0), 0x6e21db65},
		{"fmaxnmv s6, v26.4s", word("FMAXNMV", 6, 26, 0), 0x6e30cb46},
		{"fcvtl v7.2d, v25.2s", word("FCVTL", 7, 25, 0), 0x0e617b27},
		{"fcvtl2 v8.2d, v24.4s", word("FCVTL2", 8, 24, 0), 0x4e617b08},
		{"uxtl v9.8h, v23.8b", word("UXTL.8", 9, 23, 0), 0x2f08a6e9},
		{"uxtl v10.4s, v22.4h", word("UXTL.16", 10, 22, 0), 0x2f10a6ca},
		{"uxtl2 v11.4s, v21.8h", word("UXTL2.16", 11, 21, 0), 0x6f10a6ab},
		{"shl v1.4s, v2.4s, #23", shift("SHL", 1, 2, 23), 0x4f375441},
		{"shl v31.4s, v30.4s, #1", shift("SHL", 31, 30, 1), 0x4f2157df},
		{"sshr v3.4s, v4.4s, #1", shift("SSHR", 3, 4, 1), 0x4f3f0483},
		{"sshr v31.4s, v0.4s, #31", shift("SSHR", 31, 0, 31), 0x4f21041f},
		{"fmla v0.4s, v24.4s, v27.s[0]", fmlaBy(0, 24, 27, 0), 0x4f9b1300},
		{"fmla v23.4s, v26.4s, v28.s[3]", fmlaBy(23, 26, 28, 3), 0x4fbc1b57},
		{"fmla v5.4s, v25.4s, v31.s[2]", fmlaBy(5, 25, 31, 2), 0x4f9f1b25},
		{"fmla v9.4s, v1.4s, v16.s[1]", fmlaBy(9, 1, 16, 1), 0x4fb01029},
	} {
		if c.got != c.want {
			t.Errorf("%s is %#08x, want %#08x", c.instruction, c.got, c.want)
		}
		tested[strings.ToUpper(strings.Fields(c.instruction)[0])] = true
	}
	for name := range encodings {
		mnemonic, _, _ := strings.Cut(name, ".")
		if !tested[mnemonic] {
			t.Errorf("%s is not tested", name)
		}
	}
}
