package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/origin"
)

// Hints about facts that go/types does not know: earlier cells, and other packages.

// explain returns an error of go/types in terms of the cell, with a hint if earlier cells
// have caused it.
func (a *attempt) explain(msg string) string {
	if len(a.errs) > MaxErrors {
		return msg
	}
	msg = a.plainPackages(msg)
	return msg + a.otherCase(msg) + a.olderType(msg) + a.hiddenPackage(msg)
}

// pattern compiles a regular expression when it is first used: all of them together take a millisecond, and most sessions start and end without one.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// conversions are hints for arguments and conversions that other languages and libraries have.
// A format with two verbs takes the groups of the regexp.
var conversions = []struct {
	msg  func() *regexp.Regexp
	hint string
}{
	{pattern(`^invalid operation: (.+) [!=]= "(.|\\.)" \(mismatched types (?:byte|rune|u?int8|int32) and untyped string\)$`), "; %s is a character: compare it with '%s'"},
	{pattern(`^invalid operation: "(.|\\.)" [!=]= (.+) \(mismatched types untyped string and (?:byte|rune|u?int8|int32)\)$`), "; a character has single quotes: '%s'"},
	{pattern(`^invalid operation: .+ [!=<>]=? .* \(mismatched types (?:byte|rune) and (?:untyped )?string\)|^invalid operation: .* \(mismatched types (?:untyped )?string and (?:byte|rune)\)$`), "; a byte or rune is one character: string(c) makes a string of it"},
	{pattern(`^(?:invalid operation: .* [!=<>+]=? |cannot use |cannot convert )'(.|\\.+)' (?:\(mismatched types string and untyped rune\)|\(untyped rune constant \d+\) as string value |\(untyped rune constant \d+\) to type string$)`), "; a string has double quotes: \"%s\""},
	{pattern(`^cannot (?:use|convert) "(.|\\.)" \(untyped string constant\) (?:as|to type) (?:byte|rune|int32|uint8)\b`), "; a character has single quotes: '%s'"},
	{pattern(`^cannot use (\w+|\w+\([^()]*\)|\w+\.\w+) \(.* of (?:struct )?type (?:u?int\d*|float\d+|byte|rune|uintptr)\) as ((?:u?int\d*|float\d+|byte|rune)) value in `), "; %[2]s(%[1]s) converts it"},
	{pattern(`^cannot use (.+) \(.* of type (?:u?int\d*|float\d+|byte)\) as (string) value in |^cannot use (\d+) \(untyped int constant\) as (string) value in `), "; fmt.Sprint converts a value to a string"},
	{pattern(`^cannot use .* of type string\) as (?:u?int\d*|float\d+) value in |^cannot use ".*" \(untyped string constant\) as (?:u?int\d*|float\d+) value in `), "; strconv.Atoi and strconv.ParseFloat parse numbers"},
	{pattern(`^invalid operation: (\w+) [*/+-] time\.\w+ \(mismatched types (?:u?int\d*|float\d+) and time\.Duration\)$`), "; time.Duration(%s) converts it"},
	{pattern(`^invalid operation: time\.\w+ [*/+-] (\w+) \(mismatched types time\.Duration and (?:u?int\d*|float\d+)\)$`), "; time.Duration(%s) converts it"},
	{pattern(`^invalid operation: .* \(mismatched types (float\d+) and u?int\d*\)$`), "; convert one of them: %s(n)"},
	{pattern(`^invalid operation: .* \(mismatched types u?int\d* and (float\d+)\)$`), "; convert one of them: %s(n)"},
	{pattern(`^invalid operation: .* \(mismatched types (u?int\d*|float\d+) and (?:u?int\d*|float\d+)\)$`), "; convert one of them, as in %s(n)"},
	{pattern(`^cannot assign to .*\] \(neither addressable nor a map index expression\)$`), "; the bytes of a string cannot be changed: use a []byte"},
	{pattern(`^use of untyped nil in (?:variable declaration|assignment)$`), "; a variable that is nil has a type, as in var x []int, var x map[string]int, var x *T or var x error"},
	{pattern(`^cannot use nil as (?:u?int\d*|float\d+|byte|rune|uintptr) value in `), "; a number is never nil: it is 0"},
	{pattern(`^cannot use nil as string value in `), "; a string is never nil: it is empty, \"\""},
	{pattern(`^cannot use nil as bool value in `), "; a bool is never nil: it is false"},
	{pattern(`^cannot use nil as (\S+|struct\{.*\}) value in `), "; only pointers, slices, maps, channels, functions and interfaces can be nil, and %[1]s is none of them"},
	{pattern(`^invalid operation: .* [!=]= nil \(mismatched types .+ and untyped nil\)$|^invalid operation: nil [!=]= .* \(mismatched types untyped nil and .+\)$`), "; only pointers, slices, maps, channels, functions and interfaces can be nil"},
	{pattern(`^invalid argument: index -\d+ \(constant of type int\) must not be negative$`), "; an index counts from the start: len(x)-1 is that of the last element"},
	{pattern(`^cannot use .* \(untyped float constant\) as time\.Duration value in .*\(truncated\)$`), "; a time.Duration is an integer, as in 500 * time.Millisecond"},
	{pattern(`^[\d.]+ \(untyped float constant\) truncated to int64$`), "; an integer has no fractions, nor has a time.Duration: 1500 * time.Millisecond is 1.5 s"},
	{pattern(`^(?s:too many return values.*want \(\))$`), "\n\tthe type of the result follows the parameters: func f(x int) int { }"},
	{pattern(`^non-boolean condition in (?:if|for) statement$`), "; a condition is a bool, as in x != 0"},
	{pattern(`^invalid operation: operator \+ not defined on .* of type \[\]`), "; append(a, b...) joins two lists"},
	{pattern(`^invalid operation: .* [-+*/] .* \(mismatched types (?:\[\].* and .*|.* and \[\].*)\)$`), "; a list has no arithmetic: use a loop, append, or package tensor"},
	{pattern(`^invalid argument: .* of type \[\].*\) cannot be ordered$`), "; slices.Max and slices.Min find the largest and the smallest element"},
	{pattern(`^non-name .* on left side of :=$`), "; = assigns to a variable or an element that exists"},
	{pattern(`^invalid operation: .* % .* \(mismatched types (?:untyped )?string and `), "; fmt.Sprintf formats values"},
	{pattern(`^(.+)\.(?:keys|Keys|values|Values|items|Items|entries) undefined \(type map\[`), "; for key, value := range %s { } loops over a map"},
	{pattern(`^(.+)\.(?:get|has|contains|containsKey|has_key) undefined \(type map\[`), "; value, ok := %s[key] finds a key"},
	{pattern(`^(.+)\.(?:sort|Sort) undefined \(type \[\]`), "; slices.Sort(%s) sorts it"},
	{pattern(`^(.+)\.(?:reverse|Reverse) undefined \(type \[\]`), "; slices.Reverse(%s) reverses it"},
	{pattern(`^(.+)\.(?:contains|Contains|includes) undefined \(type \[\]`), "; slices.Contains(%s, x) finds a value"},
	{pattern(`^(.+)\.(?:index|indexOf|find) undefined \(type \[\]`), "; slices.Index(%s, x) finds a value"},
	{pattern(`^(.+)\.(?:pop|Pop) undefined \(type \[\]`), "; %[1]s = %[1]s[:len(%[1]s)-1] removes the last element"},
	{pattern(`^(.+)\.(?:push|push_back|add|Add|Append|extend|insert) undefined \(type \[\]`), "; append is a function: %[1]s = append(%[1]s, x)"},
	{pattern(`^(.+)\.(?:map|Map|filter|Filter|reduce|forEach|ForEach|each) undefined \(type \[\]`), "; a loop does that: for i, x := range %s { }"},
	{pattern(`^(.+)\.append undefined \(type \[\]`), "; append is a function: %[1]s = append(%[1]s, x)"},
	{pattern(`^(.+)\.(?:length|len|size|Len|Length|count) undefined \(type (?:string|\[\]|map\[|chan )`), "; len(%s) is the length"},
	{pattern(`^.+\.format undefined \(type (?:untyped )?string`), "; fmt.Sprintf formats values"},
	{pattern(`^(.+)\.(\w+) undefined \(type map\[string\]`), "; %[1]s[\"%[2]s\"] is the element"},
	{pattern(`^.+\.\w+ undefined \(type (?:untyped )?string has no `), "; functions on strings are in package strings, as in strings.ToUpper(s)"},
	{pattern(`^cannot convert .* \((untyped string constant.*|.* of type string)\) to type (u?int\d*|float\d+)$`), "; strconv.Atoi and strconv.ParseFloat parse numbers"},
	{pattern(`^invalid operation: .* \* .* \(mismatched types (untyped )?string and `), "; strings.Repeat repeats a string"},
	{pattern(`^invalid operation: .* \+ .* \(mismatched types (untyped )?string and (untyped )?(int|float|rune)`), "; fmt.Sprint converts a value to a string"},
	{pattern(`^invalid operation: .* \+ .* \(mismatched types (untyped )?(int|float\d*) and (untyped )?string`), "; fmt.Sprint converts a value to a string"},
	{pattern(`^invalid operation: cannot indirect .*(int|float|constant)`), "; math.Pow computes powers"},
	{pattern(`^cannot use _ as value`), "; _ is not the last result: x := … in that cell gives it a name"},
	{pattern(`^cannot use \d+ .* as nn\.Option value in argument to nn\.`), "; a layer has no argument for the size of its input, which is that of the first batch"},
}

// conversionHint returns the hint of conversions for an error, or "".
func conversionHint(msg string) string {
	for _, c := range conversions {
		if m := c.msg().FindStringSubmatch(msg); m != nil {
			return filled(c.hint, m[1:])
		}
	}
	return ""
}

// filled returns a hint with the groups of a match for its verbs.
func filled(hint string, groups []string) string {
	if !strings.Contains(hint, "%") {
		return hint
	}
	var values []any
	for _, g := range groups {
		values = append(values, g)
	}
	if !strings.Contains(hint, "%[") {
		values = values[:strings.Count(hint, "%s")]
	}
	return fmt.Sprintf(hint, values...)
}

// valuesOf matches the number of variables, the call and its results in an error about an assignment.
var valuesOf = pattern(`^assignment mismatch: (\d+) variables? but (.+) returns (\d+) values?$`)

// singleValue matches the call and its results in an error about a call with several values.
var singleValue = pattern(`(?s)^multiple-value (.+) \(value of type \((.+)\)\) in single-value context$`)

// assignment returns an error about a call with several results in terms of variables, with the statement to write.
func (a *attempt) assignment(pos token.Pos, msg string) string {
	if m := singleValue().FindStringSubmatch(msg); m != nil {
		name, call := a.definedBy(pos)
		if call == nil {
			return msg + "; assign its results to variables first"
		}
		results, ok := a.info.TypeOf(call).(*types.Tuple)
		if !ok {
			return msg
		}
		return fmt.Sprintf("assignment mismatch: 1 variable but %s returns %d values", types.ExprString(call.Fun), results.Len()) + assigned([]string{name}, results, call)
	}
	if valuesOf().MatchString(msg) {
		for _, s := range a.assignmentsAt(pos) {
			call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
			if !ok {
				continue
			}
			results, ok := a.info.TypeOf(call).(*types.Tuple)
			if !ok || results.Len() <= len(s.Lhs) || s.Tok != token.DEFINE {
				continue
			}
			var names []string
			for _, e := range s.Lhs {
				names = append(names, types.ExprString(e))
			}
			return msg + assigned(names, results, call)
		}
	}
	return msg
}

// assigned returns "; write n, err := f()" for a call with more results than there are names.
func assigned(names []string, results *types.Tuple, call *ast.CallExpr) string {
	for i := len(names); i < results.Len(); i++ {
		if types.Identical(results.At(i).Type(), types.Universe.Lookup("error").Type()) && i == results.Len()-1 {
			names = append(names, "err")
		} else {
			names = append(names, "_")
		}
	}
	text := types.ExprString(call)
	if len(text) > maxCall {
		text = types.ExprString(call.Fun) + "(…)"
	}
	return fmt.Sprintf("; write %s := %s", strings.TrimSuffix(strings.Join(names, ", "), outerSuffix), strings.ReplaceAll(text, outerSuffix, ""))
}

// maxCall is the maximum length of a call in a hint.
const maxCall = 60

// definedBy returns the one variable that a call at a position is the value of, and the call; nil if it is not the whole value.
func (a *attempt) definedBy(pos token.Pos) (name string, call *ast.CallExpr) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if len(n.Names) == 1 && len(n.Values) == 1 && n.Values[0].Pos() == pos {
				if c, ok := ast.Unparen(n.Values[0]).(*ast.CallExpr); ok {
					name, call = n.Names[0].Name, c
				}
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && n.Rhs[0].Pos() == pos {
				if c, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr); ok {
					name, call = types.ExprString(n.Lhs[0]), c
				}
			}
		}
		return call == nil
	})
	return name, call
}

// assignmentsAt returns the assignments with one value that an error at a position may be about.
func (a *attempt) assignmentsAt(pos token.Pos) (list []*ast.AssignStmt) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && len(s.Rhs) == 1 && s.Pos() <= pos && pos < s.End() {
			list = append(list, s)
		}
		return true
	})
	slices.Reverse(list) // the innermost one first
	return list
}

// plainPackages replaces "example.com/tensor".Tensor by tensor.Tensor if a cell can import
// only one package of that name. go/types writes the path if it also knows an internal one.
func (a *attempt) plainPackages(msg string) string {
	return quotedPackage().ReplaceAllStringFunc(msg, func(quoted string) string {
		path := strings.Trim(quoted, `".`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if known := a.guess(name); len(known) != 1 || known[0] != path {
			return quoted
		}
		return name + "."
	})
}

var quotedPackage = pattern(`"[^"\s]+/[^"\s]+"\.`)

// otherCase returns " (but have fmt)" for an undefined Fmt, as go/types does for the names of
// a package, or "" if no name differs only in case.
func (a *attempt) otherCase(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok || !token.IsIdentifier(name) {
		return ""
	}
	var have []string
	for known := range a.namesAt(token.NoPos, false) {
		if known != name && strings.EqualFold(known, name) && !strings.Contains(known, "ʹ") {
			have = append(have, known)
		}
	}
	if lower := strings.ToLower(name); len(have) == 0 && lower != name && a.findImport(lower) != "" {
		have = append(have, lower)
	}
	if len(have) == 0 || have[0] == "print" || have[0] == "println" {
		return "" // packageHint names fmt.Println
	}
	return fmt.Sprintf(" (but have %s)", slices.Min(have))
}

// twoTypes matches the types in "cannot use x (variable of type T) as T value in assignment"
// in "cannot convert x (variable of type T) to type T" and in "invalid operation: x == y (mismatched types T and T)".
var twoTypes = pattern(`^cannot use .* type (.+)\) as (.+) value in |^cannot convert .* type (.+)\) to type ([^:]+)|\(mismatched types (.+) and (.+)\)$`)

// otherUse matches variable and type in "invalid operation: x (variable of type T) is not an interface", "invalid operation: cannot call
// x (variable of type T)" and the like.
var otherUse = pattern(`\b(\w+) \(variable of (?:\w+ )?type [*\[\]]*(\w+)\)`)

// noMember matches type and name in "x.F undefined (type T has no field or method F)".
var noMember = pattern(`\(type \*?(\w+) has no field or method (\w+)(?:, but .*)?\)$`)

// noMemberOfPackage matches package, type and name in "x.F undefined (type geo.T has no field or method F)".
var noMemberOfPackage = pattern(`\(type \*?(\w+)\.(\w+) has no field or method (\w+)(?:, but .*)?\)$`)

// ofPackage matches the package in a type such as []geo.Point.
var ofPackage = pattern(`(\pL[\pL\d_]*)\.\pL`)

// word matches the names in a type.
var word = pattern(`\pL[\pL\d_]*`)

// olderType returns a hint for an error about two types of one name: a value that was made
// before the type was redefined has the older type.
func (a *attempt) olderType(msg string) string {
	hint := func(name string, cell int) string {
		return fmt.Sprintf("\n\t%s was redefined by %s: run the cell that made the value again", name, Filename(cell))
	}
	if m := twoTypes().FindStringSubmatch(msg); m != nil && m[1] == m[2] && m[3] == m[4] && m[5] == m[6] {
		both := m[1] + m[3] + m[5]
		for _, name := range word().FindAllString(both, -1) {
			if cell := a.redefinedBy(name); cell != 0 {
				return hint(name, cell)
			}
		}
		if m := ofPackage().FindStringSubmatch(both); m != nil {
			return savedSince(m[1])
		}
	}
	for _, m := range otherUse().FindAllStringSubmatch(msg, -1) {
		v, ok := a.live[m[1]].(*types.Var)
		if cell := a.redefinedBy(m[2]); ok && cell != 0 && a.isOlder(v.Type(), m[2]) {
			return hint(m[2], cell)
		}
	}
	if m := noMemberOfPackage().FindStringSubmatch(msg); m != nil {
		p, err := a.importer.Import(a.findImport(m[1]))
		if err != nil || !origin.IsModule(p) {
			return ""
		}
		if t, ok := p.Scope().Lookup(m[2]).(*types.TypeName); ok {
			if o, _, _ := types.LookupFieldOrMethod(t.Type(), true, p, m[3]); o != nil && o.Exported() {
				return savedSince(m[1])
			}
		}
	}
	if m := noMember().FindStringSubmatch(msg); m != nil {
		cell := a.redefinedBy(m[1])
		if cell == 0 {
			return ""
		}
		if t, ok := a.now(m[1]).(*types.TypeName); ok {
			if o, _, _ := types.LookupFieldOrMethod(t.Type(), true, a.pkg, m[2]); o != nil {
				return hint(m[1], cell)
			}
		}
	}
	return ""
}

// now returns what a name of a cell means in this one, nil if it means nothing.
func (a *attempt) now(name string) types.Object {
	if o := a.pkg.Scope().Lookup(name); o != nil {
		return o
	}
	return a.live[name]
}

// isOlder reports whether a type consists of pointers, slices or arrays of a type of a cell that another one of that name has replaced.
func (a *attempt) isOlder(t types.Type, name string) bool {
	for {
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Named:
			return u.Obj().Name() == name && u.Obj().Pkg() != nil && u.Obj().Pkg().Path() == "main" && a.now(name) != types.Object(u.Obj())
		default:
			return false
		}
	}
}

// savedSince is the hint for a value of a type of a package.
func savedSince(name string) string {
	return fmt.Sprintf("\n\tthe files of package %s have changed since the value was made: run the cell that made it again", name)
}

// ofVariable matches the names in "json.Marshal undefined (type int has no field ...".
var ofVariable = pattern(`^(\w+)\.(\w+) undefined \(type `)

// hiddenPackage returns a hint for an error about a variable, or another definition, that has the
// name of a package.
func (a *attempt) hiddenPackage(msg string) string {
	m := ofVariable().FindStringSubmatch(msg)
	if m == nil {
		return a.hiddenMember(msg)
	}
	what := "variable"
	switch a.live[m[1]].(type) {
	case nil:
		if !a.declared[m[1]] {
			return ""
		}
	case *types.Func:
		what = "function"
	case *types.TypeName:
		what = "type"
	case *types.Const:
		what = "constant"
	}
	path := a.memberOf(m[1], m[2])
	if path == "" {
		return ""
	}
	if a.declared[m[1]] {
		return fmt.Sprintf("\n\t%s hides package %q in this cell: %s", m[1], path, otherName(m[1], path))
	}
	return fmt.Sprintf("\n\t%s is a %s of an earlier cell: import %q in a cell to use the package", m[1], what, path)
}

// qualified matches the names in "cannot use time.Second (value of type func() int)".
var qualified = pattern(`\b(\pL[\pL\d_]*)\.(\pL[\pL\d_]*)\b`)

// hiddenMember returns a hint for an error about a member of a variable of an earlier cell that may be meant as one of the package
// of that name.
func (a *attempt) hiddenMember(msg string) string {
	for _, m := range qualified().FindAllStringSubmatch(msg, -1) {
		v, ok := a.live[m[1]].(*types.Var)
		if !ok {
			continue
		}
		if o, _, _ := types.LookupFieldOrMethod(v.Type(), true, a.pkg, m[2]); o == nil {
			continue
		}
		if path := a.memberOf(m[1], m[2]); path != "" {
			return fmt.Sprintf("\n\t%s belongs to the variable %s of an earlier cell, which hides package %q: %s", m[0], m[1], path, otherName(m[1], path))
		}
	}
	return ""
}

// redefinedBy returns the number of the cell that defined the current type of that name, or 0
// if it was never redefined.
func (a *attempt) redefinedBy(name string) int {
	if _, known := a.live[name].(*types.TypeName); known && a.declared[name] {
		return a.number
	}
	return a.redefined[name]
}
