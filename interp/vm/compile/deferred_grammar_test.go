package compile_test

// deferDeclarations are the functions that deferStatements call.
const deferDeclarations = `
func rescue(n *int) { if recover() != nil { *n++ } }
func helped() any { return recover() }
func (p *point) guard(n int) { p.x += n; if r := recover(); r != nil { p.name = clip(fmt.Sprint(r)) } }
func (p pair) guard(n int) { shared[0] += n + int(p.a); recover() }
//go:noinline
func cleaned[T any](list *[]T, x T) { *list = append(*list, x) }
type guarder interface{ guard(n int) }
`

// deferStatements are rules for deferred calls, recovered panics, select statements and labels in functions
// that the VM runs.
var deferStatements = []string{
	"func() {\ndefer func() {\nif $1 := recover(); $1 != nil {\nout += fmt.Sprintln(\"D\", $1)\n}\n}()\nRISKY\n}()",
	"func() {\ndefer func() { out += fmt.Sprintln(\"last\", recover()) }()\nfor $1 := range <int> & 3 {\nGUARD\ndefer func(n INTEGER) { <&int> += $1 + int(n); <&INTEGER> -= n }(<INTEGER>)\n}\nRISKY\n}()",
	"defer func() { counter += <int> & 3 }()", "defer func(a ANY) { out += fmt.Sprintln(\"late\", <&int>)\n_ = a\n}(<ANY>)",
	"{\n$1 := func(n int) (r int, s string) { defer func() { r++; s += fmt.Sprint(recover()) }(); if n&1 == 0 { panic(n & 7) }; return n, clip(<string>) }\n<&int>, <&string> = $1(<int>)\n}",
	"{\n$1 := func(n INTEGER) (r INTEGER) { defer func() { if x := recover(); x != nil { r = n ^ 5 } }(); return 100 / (n & 3) }\n<&INTEGER> += $1(<INTEGER>)\n}",
	"{\n$1 := func(v ANY) (r ANY) { defer func() { r, v = v, r }(); return v }\n<&ANY> = $1(<ANY>)\n}",
	"func() {\ndefer <&point>.move(<int>)\n<&point>.x++\ndefer (<*point>).move(2)\n}()", "func() {\ndefer <&point>.guard(<int> & 3)\nRISKY\n}()", "func() {\n$1 := <pair>\ndefer $1.guard(<int> & 3)\n$1.a++\nRISKY\n}()",
	"func() {\ndefer func() { out += fmt.Sprintln(\"I\", recover() != nil) }()\nvar $1 shape = <pair>\nif <bool> {\n$1 = nil\n}\ndefer $1.area()\n<&int> += $1.area()\n}()",
	"func() {\nvar $1 guarder = <pair>\nif <bool> {\n$1 = &point{x: <int>}\n}\ndefer $1.guard(<int> & 7)\nRISKY\n}()",
	"func() {\ndefer func() { out += fmt.Sprintln(\"outer\", recover()) }()\nfunc() {\ndefer func() {\nif $1 := recover(); $1 != nil {\npanic(fmt.Sprint(\"again \", $1))\n}\n}()\nRISKY\n}()\n}()",
	"func() {\ndefer func() { out += fmt.Sprintln(\"replaced\", recover()) }()\ndefer func() { RISKY\n}()\nRISKY\n}()",
	"func() {\ndefer rescue(&<&int>)\nRISKY\n}()", "func() {\ndefer func() { out += fmt.Sprintln(\"first\", recover()) }()\ndefer func() { out += fmt.Sprintln(\"helped\", helped()) }()\nRISKY\n}()",
	"func() {\n$1 := <func(int) int>\ndefer func() { _ = recover() }()\ndefer $1(<int>)\n$1 = nil\n<&int> = $1(2)\n}()",
	"func() {\nvar $1 []INTEGER\ndefer func() { for _, n := range $1 { <&int> += int(n) } }()\ndefer cleaned(&$1, <INTEGER>)\nfor $2 := range 3 {\nGUARD\ndefer cleaned(&$1, <INTEGER>)\nif $2 > 1 && <bool> {\nreturn\n}\n}\n}()",
	"$1:\nfor $2 := range 4 {\nGUARD\nif func() (done bool) {\ndefer func() { done = recover() != nil || <bool> }()\nRISKY\nreturn <bool>\n}() {\nif <bool> {\nbreak $1\n}\ncontinue $1\n}\nBLOCK($2 int)}",
	"{\nvar $1 chan ANY\nif <bool> {\n$1 = make(chan ANY, 1)\n}\nselect {\ncase $1 <- <ANY>:\n<&ANY> = <-$1\ndefault:\n<&int>++\n}\n}", "{\n$1 := make(chan ANY, 1)\n$1 <- <ANY>\nselect {\ncase $2, $3 := <-$1:\n<&ANY> = $2\n<&bool> = $3\n}\nclose($1)\nselect {\ncase <&ANY> = <-$1:\ndefault:\n}\n}",
	"$1:\nfor $2 := range 4 {\nGUARD\nselect {\ncase <-func() chan int { c := make(chan int, 1); if (<bool>) { c <- 1 }; return c }():\nif <bool> {\nbreak $1\n}\nBLOCK($2 int)\ndefault:\nif <bool> {\ncontinue $1\n}\nbreak\n}\n<&int> += $2\n}",
	"func() {\ndefer func() { _ = recover() }()\n$1 := make(chan INTEGER)\nclose($1)\nselect {\ncase $1 <- <INTEGER>:\n<&int>++\ncase <&INTEGER> = <-make(chan INTEGER):\n}\n}()",
	"{\n$1 := []shape{<pair>, <color>, &point{x: <int>}, <*node>}\nfor $2, $3 := range $1 {\nGUARD\n<&int> += $3.area() * ($2 + 1)\n}\n}",
	"~{\n$1 := make(chan int)\ngo func() {\ndefer close($1)\ndefer func() {\nif recover() == nil {\n<&int>++\n}\n}()\nruntime.Goexit()\n}()\n<-$1\n}",
}

func init() { statements = append(statements, deferStatements...) }
