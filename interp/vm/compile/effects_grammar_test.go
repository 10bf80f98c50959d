package compile_test

// effectDeclarations are what effectStatements use: note records that an operand is evaluated.
const effectDeclarations = `
var trail string
func note[T any](mark string, x T) T { trail += mark; return x }
func fail[T any](mark string, x T) T { trail += mark; panic(mark) }
`

// effectStatements are rules for the order in which operands are evaluated and assigned. They contain no variable that a call of the same
// statement changes: Go does not define when such a variable is read.
var effectStatements = []string{
	`{
$1 := []int{1, 2, 3, 4}
$1[note("a", <int>)&3], $1[note("b", <int>)&3] = note("c", <int>), note("d", <int>)
$1[note("e", <int>)&3] += note("f", <int>)
$1[note("g", <uint8>)&3]++
out += fmt.Sprintln(trail, $1)
trail = ""
}`,
	`{
$1 := map[string]INTEGER{}
$1[note("a", clip(<string>))] += note("b", <INTEGER>)
$1[note("c", clip(<string>))], <&int> = note("d", <INTEGER>), note("e", <int>)
delete(note("f", $1), note("g", clip(<string>)))
out += fmt.Sprintln(trail, $1)
trail = ""
}`,
	`{
$1 := point{y: note("a", <int>), name: note("b", clip(<string>)), x: note("c", <int>)}
$2 := []point{1: {x: note("d", <int>)}, {note("e", <int>), note("f", <int>), "", note("g", $1.in)}}
$3 := [...]INTEGER{2: note("h", <INTEGER>), 0: note("i", <INTEGER>)}
$4 := map[string]INTEGER{note("j", "k"): note("l", <INTEGER>), note("m", "n"): note("o", <INTEGER>)}
out += fmt.Sprintln(trail, $1.x, $2[2].sum(), $3, $4)
trail = ""
}`,
	`{
$1 := []INTEGER{1, 2, 3, 4, 5}
$2 := note("a", $1)[note("b", <int>)&1 : note("c", <int>)&1+1 : note("d", <uint8>)&1+3]
$2 = append(note("e", $2), note("f", <INTEGER>), note("g", <INTEGER>))
out += fmt.Sprintln(trail, $1, $2, copy(note("h", $1), note("i", $2)), min(note("j", <INTEGER>), 3, note("k", <INTEGER>)))
trail = ""
}`,
	`{
$1 := note("a", <point>).sum() + note("b", <int>)*note("c", <int>) - twice(note("d", <func(int) int>), note("e", <int>))
$2, $3 := two(note("f", $1), note("g", <int>))
out += fmt.Sprintln(trail, $1, $2, $3) + fmt.Sprintln(two(note("h", $2), note("i", <int>)))
trail = ""
}`,
	`{
$1 := make(chan INTEGER, 2)
note("a", $1) <- note("b", <INTEGER>)
$2 := [2]INTEGER{}
$2[note("c", <int>)&1] = <-note("d", $1)
select {
case note("e", $1) <- note("f", <INTEGER>):
case $2[note("g", <int>)&1] = <-note("h", chan INTEGER(nil)):
}
select {
case note("i", chan INTEGER(nil)) <- note("j", <INTEGER>):
case $2[note("k", <int>)&1] = <-note("l", $1):
}
out += fmt.Sprintln(trail, $2, len($1))
trail = ""
}`,
	`switch note("a", <int> & 3) {
case note("b", <int> & 3), note("c", <int> & 1):
out += fmt.Sprintln(1, trail)
fallthrough
case note("d", 2):
trail += "!"
BLOCK()default:
out += fmt.Sprintln(2, trail)
BLOCK()case note("e", <int>):
trail = ""
}`,
	`if note("a", <bool>) && (note("b", <bool>) || !note("c", <bool>)) || note("d", <int>) > note("e", <int>) {
out += fmt.Sprintln(trail)
} else if trail += "f"; note("g", <bool>) != (note("h", <bool>) && note("i", <bool>)) {
trail = ""
}`,
	`func() {
defer func() { out += fmt.Sprintln(trail, recover()); trail = "" }()
defer note(note("a", "b"), note("c", <INTEGER>))
defer note("d", func(n int, s ...any) int { trail += fmt.Sprint(n, s); return n })(note("e", <int>), note[any]("f", <INTEGER>), note("g", 2))
RISKY
}()`,
	`for $1 := note("a", 0); note("b", $1) < note("c", 3); $1 += note("d", 1) {
GUARD
if note("e", <bool>) {
continue
}
BLOCK($1 int)}`,
	`for $1, $2 := range note("a", []INTEGER{note("b", <INTEGER>), note("c", <INTEGER>)}) {
GUARD
trail += fmt.Sprint($1)
BLOCK($1 int, $2 INTEGER)}`,
	`{
$1, $2 := <point>, &point{x: <int>}
*note("a", &$1.x) += note("b", <int>)
note("c", &$1).in.a[note("d", <int>)&1] -= note("e", <int8>)
note("f", $2).y, note("g", &$1).x = note("h", <int>), note("i", <int>)
note("j", $2).move(note("k", <int>))
$3 := note("l", $1).sum
note("m", &$1).x++
out += fmt.Sprintln(trail, $1, *$2, $3())
trail = ""
}`,
	`{
$1, $2 := func() (a, b INTEGER) {
defer func() { a, b = note("a", b), note("b", a)+1 }()
return note("c", <INTEGER>), note("d", <INTEGER>)
}()
$3, ok := note("e", any($1)).(INTEGER)
<&INTEGER>, <&bool> = note("f", $2)+$3, note("g", ok)
out += fmt.Sprintln(trail, $1)
trail = ""
}`,
	`func() {
$1, $2 := []INTEGER{1, 2}, map[string]int(nil)
defer func() { out += fmt.Sprintln(trail, $1, recover()); trail = "" }()
if <bool> {
$2 = map[string]int{}
}
$1[note("a", 0)], $2[note("b", "k")] = note("c", <INTEGER>), note("d", <int>)
$1[note("e", 1)], $1[note("f", <int>)&3] = note("g", <INTEGER>), note("h", <INTEGER>)
$1[note("i", 0)] = note("j", <INTEGER>) + fail("k", <INTEGER>)
}()`,
	`func() {
var $1 *point
defer func() { out += fmt.Sprintln(trail, recover()); trail = "" }()
if <bool> {
$1 = <*point>
}
<&int>, note("a", $1).x = note("b", <int>), note("c", <int>)
$2 := [...]string{note("d", clip(<string>)), note("e", $1.name), fail("f", "")}
out += $2[0]
}()`,
	`{
$1 := func(list ...INTEGER) INTEGER { n := INTEGER(len(list)); for i, x := range list { n = n*3 + x*INTEGER(i); list[i] = n }; return n }
$2 := []INTEGER{note("a", <INTEGER>), 2}
<&INTEGER> = $1(note("b", $2)...) + $1() ^ $1(note("c", <INTEGER>), note("d", $1(note("e", <INTEGER>))))
out += fmt.Sprintln(trail, $2)
trail = ""
}`,
	`{
$1 := note("a", clip(<string>)) + note("b", "+") + fmt.Sprint(note("c", <INTEGER>), string(note("d", <[]byte>))) + note("e", <struct{ a int; b string }>).b
<&bool> = note("f", $1) == note("g", clip(<string>)) || note("h", <pair>) == note("i", pair{a: note("j", int32(3))}) && note("k", <[4]int16>) != note("l", [4]int16{})
out += fmt.Sprintln(trail, clip($1))
trail = ""
}`,
	`{
$1 := [2][2]INTEGER{{note("a", <INTEGER>)}, {1: note("b", <INTEGER>)}}
$1[note("c", <int>)&1], $1[note("d", <int>)&1][note("e", <int>)&1] = note("f", $1)[note("g", <int>)&1], note("h", <INTEGER>)
$2, $3 := &$1, $1
$2[note("i", 1)][note("j", <int>)&1] <<= note("k", <uint8>) & 3
out += fmt.Sprintln(trail, $1, $3)
trail = ""
}`,
}

func init() { statements = append(statements, effectStatements...) }
