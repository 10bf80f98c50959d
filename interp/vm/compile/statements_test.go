package compile_test

// simple are rules for statements that contain no other statements. INTEGER is any integer type, ANY any
// type of a variable.
var simple = []string{
	"<&ANY> = <ANY>", "<&ANY> = <ANY>", "<&ANY> = <ANY>",
	"<&string> = clip(<string>)", "<&[]int> = short(<[]int>)",
	"<&INTEGER> += <INTEGER>", "<&INTEGER> -= <INTEGER>", "<&INTEGER> *= <INTEGER>", "<&INTEGER> |= <INTEGER>", "<&INTEGER> &^= <INTEGER>", "<&INTEGER> ^= <INTEGER>",
	"<&INTEGER> <<= <uint8> & 7", "<&INTEGER> >>= <uint> & 15", "<&INTEGER> /= <INTEGER> | 1", "<&INTEGER> %= 7", "<&INTEGER>++", "<&INTEGER>--",
	"<&float64> *= <float64>", "<&float64>++", "<&string> += \"x\"", "<&float32> -= <float32>", "<&color>++", "<&celsius> /= <celsius>",
	"<&int>, <&string> = two(<int>, <int>)", "<&int>, <&string> = named(<int>)", "~<&int>, <&error> = late(<int>)",
	"<&int>, <&int> = <int>, <int>", "<&string>, <&int> = <string>, <int>", "<&pair>.a, <&pair>.b = <int32>, <&pair>.a",
	"if len(<&[]int>) > 2 { <&[]int> = append(<[]int>, <int>) }",
	"<&map[string]int>[<string>] += <int>", "delete(<&map[string]int>, <string>)", "table[<string>]++", "<&map[int]int>[<int> & 7] = <int>", "<&map[pair]string>[<pair>] = <string>",
	"<&map[int]int>[<int> & 3]++", "clear(<&map[string]int>)", "copy(<&[]int>, <[]int>)", "copy(<&[]byte>, <string>)", "clear(<&[]string>)",
	"<&point>.x = <int>", "<&point>.move(<int>)", "<&point>.in.a[<int> & 1] -= 3", "<&point>.name = clip(<string>)", "<&*point>.y++", "<&*point>.move(2)", "<&point>.in.f *= 2",
	"<&[4]int16>[<int> & 3] = <int16>", "<&[4]int16>[<uint> & 3]++", "<&[3][2]int>[<uint8> & 1][<int> & 1] ^= <int>", "<&[3][2]int>[2] = [2]int{<int>, <int>}",
	"*<&*int> = <int>", "*<&*int> += 3", "*<&*point> = <point>", "_ = <ANY>",
	"if $1, ok := <map[int]int>[<int>]; ok {\n<&int> += $1\n}", "if $1, ok := <map[pair]string>[<pair>]; ok || $1 == \"\" {\n<&string> = $1\n}",
	"{\n$1 := <int> & 1\n$2 := [2]int{<int>, <int>}\n$1, $2[$1] = $2[1-$1]&1, $1\n<&int> ^= $2[0]*3 + $2[1] + $1\n}",
	"{\n$1 := append([]int{}, <int>, <int>, <int>)\n$1[0], $1[1], $1[2] = $1[2], $1[0], $1[1]\n<&int> += $1[0] - $1[2]*3\n}",
	"{\n$1 := <point>\n$2 := $1\n$2.x += 5\n$2.in.a[1]++\n<&int> += $1.x*3 + $2.x + int($1.in.a[1])\n}",
	"{\n$1 := <[3][2]int>\n$2 := $1\n$2[1][0] = <int>\n$3 := &$1[1]\n$3[1] = 9\n<&int> += $2[1][0] - $1[1][0] + $1[1][1]\n}",
	"{\n$1 := append([]int{1, 2}, <[]int>...)\n$2 := $1[:1:1]\n$2 = append($2, 9)\n$3 := $1[1:2]\n$3 = append($3, 8)\n<&int> += $1[1] + $2[1] + $3[0] + len($3)\n}",
	"{\nvar $1 []func() int\nfor $2 := 0; $2 < 3; $2++ {\n$1 = append($1, func() int { $2 += 10; return $2 })\n}\nfor _, $3 := range $1 {\n<&int> += $3() * $3()\n}\n}",
	"{\nvar $1 []func() int\nfor $2, $3 := range <[]int> {\n$1 = append($1, func() int { return $2 + $3 })\n}\nfor _, $4 := range $1 {\n<&int> += $4()\n}\n}",
	"{\n$1 := <point>\n$2 := $1.sum\n$1.x = <int>\n<&int> += $2() - $1.sum()\n}", "{\n$1 := <point>\n$2 := $1.move\n$2(<int>)\n<&int> += $1.x\n}",
	"{\n$1 := 0\n$2:\nif $1 < 3 {\n$1++\n<&int> += $1\ngoto $2\n}\n}",
	"{\n$1 := <int>\n$2 := func(n int) int { $1 += n; counter++; return $1 }\n<&int> = $2(<int>)\n$1++\n<&int> ^= $2(3)\n}",
	"{\nconst $1 = 1 << 62\n<&int> += $1>>(<uint8>&63) + int(<uint8> * 2)\n}", "{\nconst $1 uint8 = 255\n<&uint8> += $1\n<&int8> = int8(<uint8>+$1) - 100\n}",
	"{\n$1 := []*point{<*point>, <*point>}\n$1[0].x++\n$1[1], $1[0] = $1[0], $1[1]\n$1[0].y += $1[1].x\n<&int> += $1[0].sum()\n}",
	"{\n$1 := map[string]*point{\"a\": <*point>}\n$1[\"a\"].x += 2\n<&int> += $1[\"a\"].sum()\n}",
	"{\n$1 := &node{<int>, nil}\n$1.next = &node{2, $1}\n$1.next.next.value += 3\n<&int> += $1.area() & 1023\n}",
	"{\n$1, $2 := <int>, <string>\n$3, $1 := $1 + 1, len($2)\n<&int> += $3 * $1\n}",
	"for $1, $2 := range <map[int]int> {\ncounter += $1 * $2\n}", "for $1 := range <map[string]int> {\ncounter += len($1)\n}",
	"if <bool> {\nreturn clip(out) + <string>\n}", "func() {\nif <bool> {\nreturn\n}\n<&ANY> = <ANY>\n}()",
	"RISKY",

	"~for $1 := range 2 {\ndefer func() { out += fmt.Sprintln($1, <int>) }()\n}", "~defer func() { counter++ }()",
	"~<&stack[int]>.push(<int>)", "~if $1, ok := <any>.(string); ok {\n<&string> = $1\n}", "~if _, ok := <any>.(fmt.Stringer); ok {\n<&int>++\n}",
	"~{\n$1 := make(chan int, 4)\n$1 <- <int>\n$1 <- 2\nclose($1)\nfor $2 := range $1 {\n<&int> += $2\n}\n_, ok := <-$1\n<&bool> = ok\n}",
	"~{\n$1 := make(chan int)\n$2 := <int>\ngo func() { $1 <- $2 * 2 }()\n<&int> += <-$1\n}", "~select {\ncase $1 := <-make(chan int):\n<&int> = $1\ndefault:\n<&int>++\n}",
	"~for _, $1 := range slices.Sorted(maps.Keys(<map[string]int>)) {\n<&string> = clip($1 + <string>)\n}", "~{\n$1 := failure{}\nif errors.As(<error>, &$1) {\n<&int> += $1.code\n}\n}",
	"~{\n$1 := <complex128>\n$1 *= 2i\n$1 -= <complex128>\n<&float64> = real($1) - imag($1)\n}", "~{\n$1 := <[]any>\nfor _, $2 := range $1 {\n<&string> = clip(fmt.Sprintf(\"%v%s\", $2, kind($2)))\n}\n}",
	"~{\n$1 := <shape0>\n<&int> += $1.area()\n$2 := $1.area\n$1 = pair{1, 1}\n<&int> ^= $2()\n}", "~{\n$1 := append([]point{}, <[]point>...)\nsort.Slice($1, func(i, j int) bool { return $1[i].sum() < $1[j].sum() })\n<&int> += len($1)\n}",
}

// statements are rules for all statements.
var statements = append(simple[:len(simple):len(simple)],
	"if <bool> {\nBLOCK()}", "if <bool> {\nBLOCK()} else if <bool> {\nBLOCK()} else {\nBLOCK()}", "if $1 := <int>; $1 > <int> {\nBLOCK($1 int)} else {\nBLOCK($1 int)}",
	"for $1 := 0; $1 < 3; $1++ {\nGUARD\nBLOCK($1 int)}", "for $1, $2 := 0, <int> & 7; $1 <= $2; $1 += 2 {\nGUARD\nBLOCK($1 int, $2 int)}", "for $1 := range <int> & 3 {\nGUARD\nBLOCK($1 int)}",
	"for range 2 {\nGUARD\nBLOCK()}", "for $1 := range <uint8> & 3 {\nGUARD\nBLOCK($1 uint8)}", "for $1, $2 := range <[]int> {\nGUARD\nBLOCK($1 int, $2 int)}", "for $1, $2 := range <string> {\nGUARD\nBLOCK($1 int, $2 int32)}",
	"for $1, $2 := range <[4]int16> {\nGUARD\nBLOCK($1 int, $2 int16)}", "for _, $1 := range <[]point> {\nGUARD\n$1.x++\nBLOCK($1 point)}", "for _, $1 := range <[][]int> {\nGUARD\nBLOCK($1 []int)}",
	"for _, $1 := range <[3][2]int> {\nGUARD\n$1[0]++\n<&int> += $1[0] - $1[1]\nBLOCK()}", "for $1 := range <[]string> {\nGUARD\nBLOCK($1 int)}", "for $1 := 10; $1 > 0; $1 -= 3 {\nGUARD\nif <bool> {\ncontinue\n}\nBLOCK($1 int)}",
	"$1:\nfor $2 := 0; $2 < 4; $2++ {\nGUARD\nfor $3 := range 3 {\nGUARD\nif <bool> {\ncontinue $1\n}\nif <bool> {\nbreak $1\n}\nBLOCK($2 int, $3 int)}\n}",
	"switch <INTEGER> {\ncase <INTEGER>:\nBLOCK()\nfallthrough\ncase <INTEGER>, <INTEGER>:\nBLOCK()\ndefault:\nBLOCK()}",
	"switch $1 := <int> & 3; {\ncase $1 > 1 && <bool>:\nBLOCK($1 int)\ndefault:\nBLOCK()\nfallthrough\ncase <bool>, <bool>:\nBLOCK($1 int)}",
	"switch <int> & 3 {\ncase 0:\nBLOCK()\ncase 1, 2:\nBLOCK()\nfallthrough\ndefault:\nBLOCK()}", "switch <string> {\ncase \"a\", clip(<string>):\nBLOCK()\ncase \"x\" + clip(<string>):\nBLOCK()}", "switch <pair> {\ncase pair{1, 2}, <pair>:\nBLOCK()\ndefault:\nBLOCK()}",
	"switch {\ncase -(<&int>) == <int>, <bool>:\nBLOCK()\ncase <bool>:\nif <bool> {\nbreak\n}\nBLOCK()}", "switch <color> {\ncase 3, <color>:\nBLOCK()\ndefault:\nBLOCK()}",
	"func() {\nBLOCK(-)}()",

	"~func() {\ndefer func() {\nif $1 := recover(); $1 != nil {\nout += fmt.Sprintln(\"R\", $1)\n}\n}()\nBLOCK(-)\nRISKY\nBLOCK(-)}()", "~func() {\ndefer func() { recover() }()\nfor $1 := range 3 {\nRISKY\n<&int> += $1\n}\n}()",
	"~for $1 := range seq(<int> & 3) {\nGUARD\nBLOCK($1 int)}", "~for $1, $2 := range pairs(<[]int>) {\nGUARD\nif <bool> {\nbreak\n}\nBLOCK($1 int, $2 int)}", "~$1:\nfor $2 := range 3 {\nGUARD\nfor $3 := range seq(4) {\nif <bool> {\ncontinue $1\n}\nif <bool> {\nreturn out + \"left\"\n}\nBLOCK($2 int, $3 int)}\n}",
	"~switch $1 := <any>.(type) {\ncase int:\nBLOCK($1 int)\ncase string, bool:\nout += fmt.Sprintln($1)\ncase pair:\nBLOCK($1 pair)\ncase fmt.Stringer:\nout += $1.String()\ncase error:\nout += $1.Error()\ncase nil:\nBLOCK()\ndefault:\nout += kind($1)\n}",
	"~switch $1 := <shape>.(type) {\ncase pair:\nBLOCK($1 pair)\ncase *node:\nBLOCK($1 *node)\ncase color, *point:\nout += kind($1)\ncase nil:\nout += \"nil\"\n}", "~switch <any> {\ncase <int>:\nBLOCK()\ncase <string>, <any>:\nBLOCK()\ncase nil:\nBLOCK()}",
)

// risky are statements that may panic.
var risky = []string{
	"<&int> += <[]int>[<int> & 7]", "<&int> /= <int> & 1", "<&[]int> = <[]int>[<int> & 3:]", "<&[]int> = <[]int>[<int> & 3 : <int> & 3]", "<&string> = <string>[<int> & 7:]", "<&int> += int(<string>[<int> & 7])",
	"{\nvar $1 map[string]int\nif <bool> {\n$1 = map[string]int{}\n}\n$1[\"x\"] = 1\n}", "{\nvar $1 *point\nif <bool> {\n$1 = &point{}\n}\n$1.x = 2\n}", "panic(<string>)", "panic(fmt.Sprint(<int>))", "<&[]int>[<int> & 7] = <int>", "<&[][]int>[<int> & 3] = nil",
	"{\n$1 := make([]int, <int>&15-4)\n<&int> += len($1)\n}", "<&int8> <<= <int8>&7 - 1", "{\n$1 := 7 / (<int8> & 1)\n<&int8> += $1\n}", "for $1 := range 9 {\n<&int> += <&[]int>[$1]\n}", "for $1 := 0; $1 < 5; $1++ {\n<&[]int>[$1] += $1\n}",
	"{\n$1 := (<*node>)\n<&int> = $1.next.value\n}", "<&[]string>[<uint8> & 7] += \"z\"", "{\nvar $1 func(int) int\nif <bool> {\n$1 = <func(int) int>\n}\n<&int> = $1(2)\n}", "<&point>.in.a[<int> & 3]++", "{\n$1 := [...]string{\"a\", \"b\"}\n<&string> = $1[<int> & 3]\n}",

	"~<&int> = <any>.(int)", "~<&string> = <any>.(fmt.Stringer).String()", "~panic(<error>)", "~<&int> = <shape>.area()", "~{\n$1 := [2]int(<[]int>)\n<&int> = $1[1]\n}", "~_ = any(<[]int>) == any(<[]int>)", "~{\n$1 := map[any]int{}\n$1[<any>]++\n$1[<[]any>[<int> & 7]] = 2\n<&int> = len($1)\n}", "~panic(<pair>)",
}
