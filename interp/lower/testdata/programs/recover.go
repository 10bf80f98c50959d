package main

import "fmt"

type T struct{ name string }
type Recoverer interface{ Catch(x any) }
type Outer struct{ *T }
type Wide struct{ Recoverer }

func (t *T) Catch(x any)   { mustNot(); fmt.Println(t.name, recover() == x, recover()) }
func (t *T) Through(x any) { t.Catch(x); fmt.Println(t.name, recover() == x) }
func (t T) Value(x any)    { fmt.Println(t.name, recover() == x) }

func mustNot() {
	if v := recover(); v != nil {
		fmt.Println("spurious", v)
	}
}
func must(x any) { mustNot(); fmt.Println(recover() == x, recover() == nil) }
func plain()     { mustNot() }
func loop(x any) {
	for range func(yield func(int) bool) { yield(1) } {
		fmt.Println("loop", recover() == x)
	}
}
func generic[X any](x X) { mustNot(); fmt.Println(recover() == any(x)) }

func catch(name string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Println(name, "went on with", v)
		}
	}()
	f()
}

func main() {
	t := &T{"t"}
	var i Recoverer = t
	var wide Recoverer = Wide{Outer{t}}
	value, method, bound := must, (*T).Catch, i.Catch
	for name, f := range map[string]func(){"only": func() { defer plain(); panic("x") }} {
		catch(name, f)
	}
	for _, f := range []func(){
		func() { defer must(1); defer plain(); panic(1) },
		func() { defer must(1); defer func() { defer must(2); panic(2) }(); panic(1) },
		func() { defer mustNot(); defer func() { fmt.Println(recover()); defer must(3); panic(3) }(); panic(2) },
		func() { defer value(4); panic(4) },
		func() { defer t.Catch(5); panic(5) },
		func() { defer t.Through(6); panic(6) },
		func() { defer t.Value(7); panic(7) },
		func() { defer i.Catch(8); panic(8) },
		func() { defer wide.Catch(9); panic(9) },
		func() { defer method(t, 10); panic(10) },
		func() { defer bound(11); panic(11) },
		func() { defer t.Catch(12); defer Outer.Through(Outer{t}, 0); panic(12) },
		func() { defer Outer.Catch(Outer{t}, 13); panic(13) },
		func() { defer generic(14); panic(14) },
		func() { defer loop(15); panic(15) },
		func() { f := func() { mustNot(); fmt.Println(recover()) }; defer f(); panic(16) },
		func() { defer mustNot(); defer func() { defer recover() }(); panic(17) },
		func() { defer must(18); defer recover(); panic(18) },
		func() { defer must(19); defer func() { defer must(20); defer recover(); panic(20) }(); panic(19) },
		func() { go func() { mustNot() }(); defer must(21); panic(21) },
		func() { defer func() { func() { mustNot(); fmt.Println(recover()) }() }(); panic(22) },
		func() { must(nil) },
	} {
		catch("on", f)
	}
}
