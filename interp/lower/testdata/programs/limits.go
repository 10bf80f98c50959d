package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"strings"
	"testing"
)

// Types of unusual size: many methods, many instances of a generic type, large arrays; and embedded interfaces with unexported methods.

type big [64 << 20]byte

func (b *big) Len() int   { return len(b) }
func (b big) First() byte { return b[0] }

type holder struct {
	b *big
	a [1 << 20]int
}

func (h *holder) String() string { return fmt.Sprint("holder ", h.a[5]) }

type huge struct{ a [1 << 40]byte }

func (h *huge) M() int { return 1 }

type test struct {
	testing.TB
	n int
}

func (t test) Name() string { return "mine" }

type expr struct{ ast.Expr }

func (e expr) String() string { return fmt.Sprint("expr ", e.Pos()) }

type S[T any] struct {
	v T
	n int
}

func (s S[T]) String() string { return fmt.Sprint("S:", s.v) }
func (s *S[T]) Set(x T)       { s.v = x }

func instances[T any](depth int) (list []any) {
	list = append(list, S[T]{n: depth}, &S[[]T]{}, S[map[string]T]{}, S[S[T]]{}, S[func(T) T]{}, S[chan *T]{})
	return list
}

type many int

func (m many) M0() int    { return 0 + int(m) }
func (m *many) P0() int   { return 0 * int(*m) }
func (m many) M1() int    { return 1 + int(m) }
func (m many) M2() int    { return 2 + int(m) }
func (m many) M3() int    { return 3 + int(m) }
func (m *many) P3() int   { return 3 * int(*m) }
func (m many) M4() int    { return 4 + int(m) }
func (m many) M5() int    { return 5 + int(m) }
func (m many) M6() int    { return 6 + int(m) }
func (m *many) P6() int   { return 6 * int(*m) }
func (m many) M7() int    { return 7 + int(m) }
func (m many) M8() int    { return 8 + int(m) }
func (m many) M9() int    { return 9 + int(m) }
func (m *many) P9() int   { return 9 * int(*m) }
func (m many) M10() int   { return 10 + int(m) }
func (m many) M11() int   { return 11 + int(m) }
func (m many) M12() int   { return 12 + int(m) }
func (m *many) P12() int  { return 12 * int(*m) }
func (m many) M13() int   { return 13 + int(m) }
func (m many) M14() int   { return 14 + int(m) }
func (m many) M15() int   { return 15 + int(m) }
func (m *many) P15() int  { return 15 * int(*m) }
func (m many) M16() int   { return 16 + int(m) }
func (m many) M17() int   { return 17 + int(m) }
func (m many) M18() int   { return 18 + int(m) }
func (m *many) P18() int  { return 18 * int(*m) }
func (m many) M19() int   { return 19 + int(m) }
func (m many) M20() int   { return 20 + int(m) }
func (m many) M21() int   { return 21 + int(m) }
func (m *many) P21() int  { return 21 * int(*m) }
func (m many) M22() int   { return 22 + int(m) }
func (m many) M23() int   { return 23 + int(m) }
func (m many) M24() int   { return 24 + int(m) }
func (m *many) P24() int  { return 24 * int(*m) }
func (m many) M25() int   { return 25 + int(m) }
func (m many) M26() int   { return 26 + int(m) }
func (m many) M27() int   { return 27 + int(m) }
func (m *many) P27() int  { return 27 * int(*m) }
func (m many) M28() int   { return 28 + int(m) }
func (m many) M29() int   { return 29 + int(m) }
func (m many) M30() int   { return 30 + int(m) }
func (m *many) P30() int  { return 30 * int(*m) }
func (m many) M31() int   { return 31 + int(m) }
func (m many) M32() int   { return 32 + int(m) }
func (m many) M33() int   { return 33 + int(m) }
func (m *many) P33() int  { return 33 * int(*m) }
func (m many) M34() int   { return 34 + int(m) }
func (m many) M35() int   { return 35 + int(m) }
func (m many) M36() int   { return 36 + int(m) }
func (m *many) P36() int  { return 36 * int(*m) }
func (m many) M37() int   { return 37 + int(m) }
func (m many) M38() int   { return 38 + int(m) }
func (m many) M39() int   { return 39 + int(m) }
func (m *many) P39() int  { return 39 * int(*m) }
func (m many) M40() int   { return 40 + int(m) }
func (m many) M41() int   { return 41 + int(m) }
func (m many) M42() int   { return 42 + int(m) }
func (m *many) P42() int  { return 42 * int(*m) }
func (m many) M43() int   { return 43 + int(m) }
func (m many) M44() int   { return 44 + int(m) }
func (m many) M45() int   { return 45 + int(m) }
func (m *many) P45() int  { return 45 * int(*m) }
func (m many) M46() int   { return 46 + int(m) }
func (m many) M47() int   { return 47 + int(m) }
func (m many) M48() int   { return 48 + int(m) }
func (m *many) P48() int  { return 48 * int(*m) }
func (m many) M49() int   { return 49 + int(m) }
func (m many) M50() int   { return 50 + int(m) }
func (m many) M51() int   { return 51 + int(m) }
func (m *many) P51() int  { return 51 * int(*m) }
func (m many) M52() int   { return 52 + int(m) }
func (m many) M53() int   { return 53 + int(m) }
func (m many) M54() int   { return 54 + int(m) }
func (m *many) P54() int  { return 54 * int(*m) }
func (m many) M55() int   { return 55 + int(m) }
func (m many) M56() int   { return 56 + int(m) }
func (m many) M57() int   { return 57 + int(m) }
func (m *many) P57() int  { return 57 * int(*m) }
func (m many) M58() int   { return 58 + int(m) }
func (m many) M59() int   { return 59 + int(m) }
func (m many) M60() int   { return 60 + int(m) }
func (m *many) P60() int  { return 60 * int(*m) }
func (m many) M61() int   { return 61 + int(m) }
func (m many) M62() int   { return 62 + int(m) }
func (m many) M63() int   { return 63 + int(m) }
func (m *many) P63() int  { return 63 * int(*m) }
func (m many) M64() int   { return 64 + int(m) }
func (m many) M65() int   { return 65 + int(m) }
func (m many) M66() int   { return 66 + int(m) }
func (m *many) P66() int  { return 66 * int(*m) }
func (m many) M67() int   { return 67 + int(m) }
func (m many) M68() int   { return 68 + int(m) }
func (m many) M69() int   { return 69 + int(m) }
func (m *many) P69() int  { return 69 * int(*m) }
func (m many) M70() int   { return 70 + int(m) }
func (m many) M71() int   { return 71 + int(m) }
func (m many) M72() int   { return 72 + int(m) }
func (m *many) P72() int  { return 72 * int(*m) }
func (m many) M73() int   { return 73 + int(m) }
func (m many) M74() int   { return 74 + int(m) }
func (m many) M75() int   { return 75 + int(m) }
func (m *many) P75() int  { return 75 * int(*m) }
func (m many) M76() int   { return 76 + int(m) }
func (m many) M77() int   { return 77 + int(m) }
func (m many) M78() int   { return 78 + int(m) }
func (m *many) P78() int  { return 78 * int(*m) }
func (m many) M79() int   { return 79 + int(m) }
func (m many) M80() int   { return 80 + int(m) }
func (m many) M81() int   { return 81 + int(m) }
func (m *many) P81() int  { return 81 * int(*m) }
func (m many) M82() int   { return 82 + int(m) }
func (m many) M83() int   { return 83 + int(m) }
func (m many) M84() int   { return 84 + int(m) }
func (m *many) P84() int  { return 84 * int(*m) }
func (m many) M85() int   { return 85 + int(m) }
func (m many) M86() int   { return 86 + int(m) }
func (m many) M87() int   { return 87 + int(m) }
func (m *many) P87() int  { return 87 * int(*m) }
func (m many) M88() int   { return 88 + int(m) }
func (m many) M89() int   { return 89 + int(m) }
func (m many) M90() int   { return 90 + int(m) }
func (m *many) P90() int  { return 90 * int(*m) }
func (m many) M91() int   { return 91 + int(m) }
func (m many) M92() int   { return 92 + int(m) }
func (m many) M93() int   { return 93 + int(m) }
func (m *many) P93() int  { return 93 * int(*m) }
func (m many) M94() int   { return 94 + int(m) }
func (m many) M95() int   { return 95 + int(m) }
func (m many) M96() int   { return 96 + int(m) }
func (m *many) P96() int  { return 96 * int(*m) }
func (m many) M97() int   { return 97 + int(m) }
func (m many) M98() int   { return 98 + int(m) }
func (m many) M99() int   { return 99 + int(m) }
func (m *many) P99() int  { return 99 * int(*m) }
func (m many) M100() int  { return 100 + int(m) }
func (m many) M101() int  { return 101 + int(m) }
func (m many) M102() int  { return 102 + int(m) }
func (m *many) P102() int { return 102 * int(*m) }
func (m many) M103() int  { return 103 + int(m) }
func (m many) M104() int  { return 104 + int(m) }
func (m many) M105() int  { return 105 + int(m) }
func (m *many) P105() int { return 105 * int(*m) }
func (m many) M106() int  { return 106 + int(m) }
func (m many) M107() int  { return 107 + int(m) }
func (m many) M108() int  { return 108 + int(m) }
func (m *many) P108() int { return 108 * int(*m) }
func (m many) M109() int  { return 109 + int(m) }
func (m many) M110() int  { return 110 + int(m) }
func (m many) M111() int  { return 111 + int(m) }
func (m *many) P111() int { return 111 * int(*m) }
func (m many) M112() int  { return 112 + int(m) }
func (m many) M113() int  { return 113 + int(m) }
func (m many) M114() int  { return 114 + int(m) }
func (m *many) P114() int { return 114 * int(*m) }
func (m many) M115() int  { return 115 + int(m) }
func (m many) M116() int  { return 116 + int(m) }
func (m many) M117() int  { return 117 + int(m) }
func (m *many) P117() int { return 117 * int(*m) }
func (m many) M118() int  { return 118 + int(m) }
func (m many) M119() int  { return 119 + int(m) }
func (m many) M120() int  { return 120 + int(m) }
func (m *many) P120() int { return 120 * int(*m) }
func (m many) M121() int  { return 121 + int(m) }
func (m many) M122() int  { return 122 + int(m) }
func (m many) M123() int  { return 123 + int(m) }
func (m *many) P123() int { return 123 * int(*m) }
func (m many) M124() int  { return 124 + int(m) }
func (m many) M125() int  { return 125 + int(m) }
func (m many) M126() int  { return 126 + int(m) }
func (m *many) P126() int { return 126 * int(*m) }
func (m many) M127() int  { return 127 + int(m) }
func (m many) M128() int  { return 128 + int(m) }
func (m many) M129() int  { return 129 + int(m) }
func (m *many) P129() int { return 129 * int(*m) }
func (m many) M130() int  { return 130 + int(m) }
func (m many) M131() int  { return 131 + int(m) }
func (m many) M132() int  { return 132 + int(m) }
func (m *many) P132() int { return 132 * int(*m) }
func (m many) M133() int  { return 133 + int(m) }
func (m many) M134() int  { return 134 + int(m) }
func (m many) M135() int  { return 135 + int(m) }
func (m *many) P135() int { return 135 * int(*m) }
func (m many) M136() int  { return 136 + int(m) }
func (m many) M137() int  { return 137 + int(m) }
func (m many) M138() int  { return 138 + int(m) }
func (m *many) P138() int { return 138 * int(*m) }
func (m many) M139() int  { return 139 + int(m) }
func (m many) M140() int  { return 140 + int(m) }
func (m many) M141() int  { return 141 + int(m) }
func (m *many) P141() int { return 141 * int(*m) }
func (m many) M142() int  { return 142 + int(m) }
func (m many) M143() int  { return 143 + int(m) }
func (m many) M144() int  { return 144 + int(m) }
func (m *many) P144() int { return 144 * int(*m) }
func (m many) M145() int  { return 145 + int(m) }
func (m many) M146() int  { return 146 + int(m) }
func (m many) M147() int  { return 147 + int(m) }
func (m *many) P147() int { return 147 * int(*m) }
func (m many) M148() int  { return 148 + int(m) }
func (m many) M149() int  { return 149 + int(m) }
func (m many) M150() int  { return 150 + int(m) }
func (m *many) P150() int { return 150 * int(*m) }
func (m many) M151() int  { return 151 + int(m) }
func (m many) M152() int  { return 152 + int(m) }
func (m many) M153() int  { return 153 + int(m) }
func (m *many) P153() int { return 153 * int(*m) }
func (m many) M154() int  { return 154 + int(m) }
func (m many) M155() int  { return 155 + int(m) }
func (m many) M156() int  { return 156 + int(m) }
func (m *many) P156() int { return 156 * int(*m) }
func (m many) M157() int  { return 157 + int(m) }
func (m many) M158() int  { return 158 + int(m) }
func (m many) M159() int  { return 159 + int(m) }
func (m *many) P159() int { return 159 * int(*m) }
func (m many) M160() int  { return 160 + int(m) }
func (m many) M161() int  { return 161 + int(m) }
func (m many) M162() int  { return 162 + int(m) }
func (m *many) P162() int { return 162 * int(*m) }
func (m many) M163() int  { return 163 + int(m) }
func (m many) M164() int  { return 164 + int(m) }
func (m many) M165() int  { return 165 + int(m) }
func (m *many) P165() int { return 165 * int(*m) }
func (m many) M166() int  { return 166 + int(m) }
func (m many) M167() int  { return 167 + int(m) }
func (m many) M168() int  { return 168 + int(m) }
func (m *many) P168() int { return 168 * int(*m) }
func (m many) M169() int  { return 169 + int(m) }
func (m many) M170() int  { return 170 + int(m) }
func (m many) M171() int  { return 171 + int(m) }
func (m *many) P171() int { return 171 * int(*m) }
func (m many) M172() int  { return 172 + int(m) }
func (m many) M173() int  { return 173 + int(m) }
func (m many) M174() int  { return 174 + int(m) }
func (m *many) P174() int { return 174 * int(*m) }
func (m many) M175() int  { return 175 + int(m) }
func (m many) M176() int  { return 176 + int(m) }
func (m many) M177() int  { return 177 + int(m) }
func (m *many) P177() int { return 177 * int(*m) }
func (m many) M178() int  { return 178 + int(m) }
func (m many) M179() int  { return 179 + int(m) }
func (m many) M180() int  { return 180 + int(m) }
func (m *many) P180() int { return 180 * int(*m) }
func (m many) M181() int  { return 181 + int(m) }
func (m many) M182() int  { return 182 + int(m) }
func (m many) M183() int  { return 183 + int(m) }
func (m *many) P183() int { return 183 * int(*m) }
func (m many) M184() int  { return 184 + int(m) }
func (m many) M185() int  { return 185 + int(m) }
func (m many) M186() int  { return 186 + int(m) }
func (m *many) P186() int { return 186 * int(*m) }
func (m many) M187() int  { return 187 + int(m) }
func (m many) M188() int  { return 188 + int(m) }
func (m many) M189() int  { return 189 + int(m) }
func (m *many) P189() int { return 189 * int(*m) }
func (m many) M190() int  { return 190 + int(m) }
func (m many) M191() int  { return 191 + int(m) }
func (m many) M192() int  { return 192 + int(m) }
func (m *many) P192() int { return 192 * int(*m) }
func (m many) M193() int  { return 193 + int(m) }
func (m many) M194() int  { return 194 + int(m) }
func (m many) M195() int  { return 195 + int(m) }
func (m *many) P195() int { return 195 * int(*m) }
func (m many) M196() int  { return 196 + int(m) }
func (m many) M197() int  { return 197 + int(m) }
func (m many) M198() int  { return 198 + int(m) }
func (m *many) P198() int { return 198 * int(*m) }
func (m many) M199() int  { return 199 + int(m) }
func (m many) M200() int  { return 200 + int(m) }
func (m many) M201() int  { return 201 + int(m) }
func (m *many) P201() int { return 201 * int(*m) }
func (m many) M202() int  { return 202 + int(m) }
func (m many) M203() int  { return 203 + int(m) }
func (m many) M204() int  { return 204 + int(m) }
func (m *many) P204() int { return 204 * int(*m) }
func (m many) M205() int  { return 205 + int(m) }
func (m many) M206() int  { return 206 + int(m) }
func (m many) M207() int  { return 207 + int(m) }
func (m *many) P207() int { return 207 * int(*m) }
func (m many) M208() int  { return 208 + int(m) }
func (m many) M209() int  { return 209 + int(m) }
func (m many) M210() int  { return 210 + int(m) }
func (m *many) P210() int { return 210 * int(*m) }
func (m many) M211() int  { return 211 + int(m) }
func (m many) M212() int  { return 212 + int(m) }
func (m many) M213() int  { return 213 + int(m) }
func (m *many) P213() int { return 213 * int(*m) }
func (m many) M214() int  { return 214 + int(m) }
func (m many) M215() int  { return 215 + int(m) }
func (m many) M216() int  { return 216 + int(m) }
func (m *many) P216() int { return 216 * int(*m) }
func (m many) M217() int  { return 217 + int(m) }
func (m many) M218() int  { return 218 + int(m) }
func (m many) M219() int  { return 219 + int(m) }
func (m *many) P219() int { return 219 * int(*m) }
func (m many) M220() int  { return 220 + int(m) }
func (m many) M221() int  { return 221 + int(m) }
func (m many) M222() int  { return 222 + int(m) }
func (m *many) P222() int { return 222 * int(*m) }
func (m many) M223() int  { return 223 + int(m) }
func (m many) M224() int  { return 224 + int(m) }
func (m many) M225() int  { return 225 + int(m) }
func (m *many) P225() int { return 225 * int(*m) }
func (m many) M226() int  { return 226 + int(m) }
func (m many) M227() int  { return 227 + int(m) }
func (m many) M228() int  { return 228 + int(m) }
func (m *many) P228() int { return 228 * int(*m) }
func (m many) M229() int  { return 229 + int(m) }
func (m many) M230() int  { return 230 + int(m) }
func (m many) M231() int  { return 231 + int(m) }
func (m *many) P231() int { return 231 * int(*m) }
func (m many) M232() int  { return 232 + int(m) }
func (m many) M233() int  { return 233 + int(m) }
func (m many) M234() int  { return 234 + int(m) }
func (m *many) P234() int { return 234 * int(*m) }
func (m many) M235() int  { return 235 + int(m) }
func (m many) M236() int  { return 236 + int(m) }
func (m many) M237() int  { return 237 + int(m) }
func (m *many) P237() int { return 237 * int(*m) }
func (m many) M238() int  { return 238 + int(m) }
func (m many) M239() int  { return 239 + int(m) }
func (m many) M240() int  { return 240 + int(m) }
func (m *many) P240() int { return 240 * int(*m) }
func (m many) M241() int  { return 241 + int(m) }
func (m many) M242() int  { return 242 + int(m) }
func (m many) M243() int  { return 243 + int(m) }
func (m *many) P243() int { return 243 * int(*m) }
func (m many) M244() int  { return 244 + int(m) }
func (m many) M245() int  { return 245 + int(m) }
func (m many) M246() int  { return 246 + int(m) }
func (m *many) P246() int { return 246 * int(*m) }
func (m many) M247() int  { return 247 + int(m) }
func (m many) M248() int  { return 248 + int(m) }
func (m many) M249() int  { return 249 + int(m) }
func (m *many) P249() int { return 249 * int(*m) }
func (m many) M250() int  { return 250 + int(m) }
func (m many) M251() int  { return 251 + int(m) }
func (m many) M252() int  { return 252 + int(m) }
func (m *many) P252() int { return 252 * int(*m) }
func (m many) M253() int  { return 253 + int(m) }
func (m many) M254() int  { return 254 + int(m) }
func (m many) M255() int  { return 255 + int(m) }
func (m *many) P255() int { return 255 * int(*m) }
func (m many) M256() int  { return 256 + int(m) }
func (m many) M257() int  { return 257 + int(m) }
func (m many) M258() int  { return 258 + int(m) }
func (m *many) P258() int { return 258 * int(*m) }
func (m many) M259() int  { return 259 + int(m) }
func (m many) M260() int  { return 260 + int(m) }
func (m many) M261() int  { return 261 + int(m) }
func (m *many) P261() int { return 261 * int(*m) }
func (m many) M262() int  { return 262 + int(m) }
func (m many) M263() int  { return 263 + int(m) }
func (m many) M264() int  { return 264 + int(m) }
func (m *many) P264() int { return 264 * int(*m) }
func (m many) M265() int  { return 265 + int(m) }
func (m many) M266() int  { return 266 + int(m) }
func (m many) M267() int  { return 267 + int(m) }
func (m *many) P267() int { return 267 * int(*m) }
func (m many) M268() int  { return 268 + int(m) }
func (m many) M269() int  { return 269 + int(m) }
func (m many) M270() int  { return 270 + int(m) }
func (m *many) P270() int { return 270 * int(*m) }
func (m many) M271() int  { return 271 + int(m) }
func (m many) M272() int  { return 272 + int(m) }
func (m many) M273() int  { return 273 + int(m) }
func (m *many) P273() int { return 273 * int(*m) }
func (m many) M274() int  { return 274 + int(m) }
func (m many) M275() int  { return 275 + int(m) }
func (m many) M276() int  { return 276 + int(m) }
func (m *many) P276() int { return 276 * int(*m) }
func (m many) M277() int  { return 277 + int(m) }
func (m many) M278() int  { return 278 + int(m) }
func (m many) M279() int  { return 279 + int(m) }
func (m *many) P279() int { return 279 * int(*m) }
func (m many) M280() int  { return 280 + int(m) }
func (m many) M281() int  { return 281 + int(m) }
func (m many) M282() int  { return 282 + int(m) }
func (m *many) P282() int { return 282 * int(*m) }
func (m many) M283() int  { return 283 + int(m) }
func (m many) M284() int  { return 284 + int(m) }
func (m many) M285() int  { return 285 + int(m) }
func (m *many) P285() int { return 285 * int(*m) }
func (m many) M286() int  { return 286 + int(m) }
func (m many) M287() int  { return 287 + int(m) }
func (m many) M288() int  { return 288 + int(m) }
func (m *many) P288() int { return 288 * int(*m) }
func (m many) M289() int  { return 289 + int(m) }
func (m many) M290() int  { return 290 + int(m) }
func (m many) M291() int  { return 291 + int(m) }
func (m *many) P291() int { return 291 * int(*m) }
func (m many) M292() int  { return 292 + int(m) }
func (m many) M293() int  { return 293 + int(m) }
func (m many) M294() int  { return 294 + int(m) }
func (m *many) P294() int { return 294 * int(*m) }
func (m many) M295() int  { return 295 + int(m) }
func (m many) M296() int  { return 296 + int(m) }
func (m many) M297() int  { return 297 + int(m) }
func (m *many) P297() int { return 297 * int(*m) }
func (m many) M298() int  { return 298 + int(m) }
func (m many) M299() int  { return 299 + int(m) }

type embedding struct {
	many
	other int
}

type all interface {
	M0() int
	M1() int
	M2() int
	M3() int
	M4() int
	M5() int
	M6() int
	M7() int
	M8() int
	M9() int
	M10() int
	M11() int
	M12() int
	M13() int
	M14() int
	M15() int
	M16() int
	M17() int
	M18() int
	M19() int
	M20() int
	M21() int
	M22() int
	M23() int
	M24() int
	M25() int
	M26() int
	M27() int
	M28() int
	M29() int
	M30() int
	M31() int
	M32() int
	M33() int
	M34() int
	M35() int
	M36() int
	M37() int
	M38() int
	M39() int
	M40() int
	M41() int
	M42() int
	M43() int
	M44() int
	M45() int
	M46() int
	M47() int
	M48() int
	M49() int
	M50() int
	M51() int
	M52() int
	M53() int
	M54() int
	M55() int
	M56() int
	M57() int
	M58() int
	M59() int
	M60() int
	M61() int
	M62() int
	M63() int
	M64() int
	M65() int
	M66() int
	M67() int
	M68() int
	M69() int
	M70() int
	M71() int
	M72() int
	M73() int
	M74() int
	M75() int
	M76() int
	M77() int
	M78() int
	M79() int
	M80() int
	M81() int
	M82() int
	M83() int
	M84() int
	M85() int
	M86() int
	M87() int
	M88() int
	M89() int
	M90() int
	M91() int
	M92() int
	M93() int
	M94() int
	M95() int
	M96() int
	M97() int
	M98() int
	M99() int
	M100() int
	M101() int
	M102() int
	M103() int
	M104() int
	M105() int
	M106() int
	M107() int
	M108() int
	M109() int
	M110() int
	M111() int
	M112() int
	M113() int
	M114() int
	M115() int
	M116() int
	M117() int
	M118() int
	M119() int
	M120() int
	M121() int
	M122() int
	M123() int
	M124() int
	M125() int
	M126() int
	M127() int
	M128() int
	M129() int
	M130() int
	M131() int
	M132() int
	M133() int
	M134() int
	M135() int
	M136() int
	M137() int
	M138() int
	M139() int
	M140() int
	M141() int
	M142() int
	M143() int
	M144() int
	M145() int
	M146() int
	M147() int
	M148() int
	M149() int
	M150() int
	M151() int
	M152() int
	M153() int
	M154() int
	M155() int
	M156() int
	M157() int
	M158() int
	M159() int
	M160() int
	M161() int
	M162() int
	M163() int
	M164() int
	M165() int
	M166() int
	M167() int
	M168() int
	M169() int
	M170() int
	M171() int
	M172() int
	M173() int
	M174() int
	M175() int
	M176() int
	M177() int
	M178() int
	M179() int
	M180() int
	M181() int
	M182() int
	M183() int
	M184() int
	M185() int
	M186() int
	M187() int
	M188() int
	M189() int
	M190() int
	M191() int
	M192() int
	M193() int
	M194() int
	M195() int
	M196() int
	M197() int
	M198() int
	M199() int
	M200() int
	M201() int
	M202() int
	M203() int
	M204() int
	M205() int
	M206() int
	M207() int
	M208() int
	M209() int
	M210() int
	M211() int
	M212() int
	M213() int
	M214() int
	M215() int
	M216() int
	M217() int
	M218() int
	M219() int
	M220() int
	M221() int
	M222() int
	M223() int
	M224() int
	M225() int
	M226() int
	M227() int
	M228() int
	M229() int
	M230() int
	M231() int
	M232() int
	M233() int
	M234() int
	M235() int
	M236() int
	M237() int
	M238() int
	M239() int
	M240() int
	M241() int
	M242() int
	M243() int
	M244() int
	M245() int
	M246() int
	M247() int
	M248() int
	M249() int
	M250() int
	M251() int
	M252() int
	M253() int
	M254() int
	M255() int
	M256() int
	M257() int
	M258() int
	M259() int
	M260() int
	M261() int
	M262() int
	M263() int
	M264() int
	M265() int
	M266() int
	M267() int
	M268() int
	M269() int
	M270() int
	M271() int
	M272() int
	M273() int
	M274() int
	M275() int
	M276() int
	M277() int
	M278() int
	M279() int
	M280() int
	M281() int
	M282() int
	M283() int
	M284() int
	M285() int
	M286() int
	M287() int
	M288() int
	M289() int
	M290() int
	M291() int
	M292() int
	M293() int
	M294() int
	M295() int
	M296() int
	M297() int
	M298() int
	M299() int
}

func try(f func()) {
	defer func() { fmt.Println("recovered", recover()) }()
	f()
}

func main() {
	b := new(big)
	b[0] = 3
	var l interface{ Len() int } = b
	fmt.Println(l.Len(), b.First())
	h := &holder{b: b}
	h.a[5] = 9
	fmt.Println(h)
	var f interface{ First() byte } = b
	fmt.Println(f.First(), f.(*big) == b)
	var v any = *b
	fmt.Println(v.(interface{ First() byte }).First())
	var hp *huge
	var hm interface{ M() int } = hp
	fmt.Println(hm.M())

	var tb testing.TB = test{}
	fmt.Println(tb.Name(), reflect.TypeOf(tb).NumMethod() > 5)
	try(func() { tb.Helper() })
	var e ast.Expr = expr{&ast.Ident{Name: "a", NamePos: 7}}
	fmt.Println(e.Pos(), e)

	var m any = many(5)
	fmt.Println(m.(interface{ M255() int }).M255(), m.(interface{ M299() int }).M299(), reflect.TypeOf(m).NumMethod(), reflect.TypeOf(new(many)).NumMethod())
	fmt.Println(reflect.ValueOf(m).MethodByName("M256").Call(nil)[0], reflect.TypeOf(m).Method(256).Name)
	var em any = &embedding{many: 7}
	fmt.Println(em.(interface{ P297() int }).P297(), reflect.TypeOf(em).NumMethod())
	var a all = many(1)
	fmt.Println(a.M299(), reflect.TypeFor[all]().NumMethod())

	var list []any
	list = append(list, instances[int](1)...)
	list = append(list, instances[string](2)...)
	list = append(list, instances[[]int](3)...)
	list = append(list, instances[map[string]bool](4)...)
	list = append(list, instances[struct{ X int }](5)...)
	list = append(list, instances[S[int]](6)...)
	list = append(list, instances[S[S[string]]](7)...)
	list = append(list, instances[[3]many](8)...)
	for i, x := range list {
		text := fmt.Sprint(x)
		fmt.Printf("%d %T %s %v\n", i, x, text[:min(len(text), 8)], x == list[0])
	}
	fmt.Println(len(list), strings.Count(fmt.Sprint(list...), "S:"))
}
