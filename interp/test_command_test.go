package interp_test

import (
	"regexp"
	"strings"
	"testing"
)

// durations matches what differs between two runs of %test.
var durations = regexp.MustCompile(`\d+(\.\d+)? ?(ns|µs|ms|s)\b(/op)?|\(\d+\.\d\ds\)`)

// Each row is a session of its own. Not parallel: package testing, which is one for the process, is running this test too.
func TestTestCommand(t *testing.T) {
	for _, row := range []struct {
		name  string
		cells []string
		want  string // output of the last cell, with spaces squeezed and durations replaced by "~"
	}{
		{"passes", []string{"func TestA(t *testing.T) { t.Log(\"quiet\") }", "%test"}, "PASS\nTestA ok ~\n"},
		{"in one cell", []string{"func double(n int) int { return 2 * n }\nfunc TestDouble(t *testing.T) {\n\tif double(2) != 4 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n%test"}, "PASS\nTestDouble ok ~\n"},
		{"fails", []string{"func TestA(t *testing.T) {\n\tif 1+1 != 3 {\n\t\tt.Errorf(\"sum %d\", 2)\n\t}\n}\nfunc TestB(t *testing.T) {}", "%test\nfmt.Println(\"not reached\")"},
			"--- FAIL: TestA ~\n cell[1]:3: sum 2\nFAIL\nTestA FAIL ~\nTestB ok ~\n! error: %test: TestA failed"},
		{"verbose", []string{"func TestA(t *testing.T) { t.Log(\"x\", 1) }", "%test -v"}, "=== RUN TestA\n cell[1]:1: x 1\n--- PASS: TestA ~\nPASS\nTestA ok ~\n"},
		{"filter", []string{"func TestA(t *testing.T) {}\nfunc TestAll(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Fail() }", "%test ^TestA"}, "PASS\nTestA ok ~\nTestAll ok ~\n"},
		{"filter as a flag", []string{"func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Fail() }", "%test -run 'A$'"}, "PASS\nTestA ok ~\n"},
		{"filter of a subtest", []string{"func TestA(t *testing.T) {\n\tfor _, n := range []string{\"one\", \"two\"} {\n\t\tt.Run(n, func(t *testing.T) {})\n\t}\n}", "%test TestA/two"}, "PASS\nTestA ok ~\nTestA/two ok ~\n"},
		{"filter without a match", []string{"func TestA(t *testing.T) {}", "%test B"}, "PASS\n! error: %test: no test runs with these arguments: the tests are TestA"},
		{"no tests", []string{"%test"}, "! error: %test: there are no tests: define a function such as func TestName(t *testing.T)"},
		{"not a name of a test", []string{"func Testing(t *testing.T) { t.Fail() }\nfunc Test1(t *testing.T) {}", "%test"}, "PASS\nTest1 ok ~\n"},
		{"defined again", []string{"func TestA(t *testing.T) { t.Fail() }", "func TestA(t *testing.T) {}", "%test"}, "PASS\nTestA ok ~\n"},
		{"defined again in its cell", []string{"func TestA(t *testing.T) { t.Fail() }", "%test\nfunc TestA(t *testing.T) {}"}, "PASS\nTestA ok ~\n"},
		{"wrong signature", []string{"func TestLoss(x float64) float64 { return x }", "%test"}, "! error: %test: TestLoss is not a test: it must be func TestLoss(t *testing.T), or have another name"},
		{"wrong signature of a benchmark", []string{"func BenchmarkA(t *testing.T) {}", "%test"}, "! error: %test: BenchmarkA is not a test: it must be func BenchmarkA(b *testing.B), or have another name"},
		{"generic", []string{"func TestAny[T any](t *testing.T) {}\nfunc TestB(t *testing.T) {}", "%test"}, "PASS\nTestB ok ~\n"},
		{"wrong pattern", []string{"%test (("}, "! compile error: cell[1]:1:1: %test: error parsing regexp: missing closing ): `((`\n %test ((\n ^"},
		{"unknown flag", []string{"%test -x"}, "! compile error: cell[1]:1:1: %test: flag provided but not defined: -x: usage: %test [-v] [-bench regexp] [regexp]; also -skip, -count, -benchtime, -benchmem, -parallel, -shuffle, -short and -failfast, as for go test\n %test -x\n ^"},
		{"subtests", []string{"func TestA(t *testing.T) {\n\tt.Run(\"good\", func(t *testing.T) {})\n\tt.Run(\"bad\", func(t *testing.T) {\n\t\tt.Fatal(\"no\")\n\t\tt.Log(\"not reached\")\n\t})\n}", "%test"},
			"--- FAIL: TestA ~\n --- FAIL: TestA/bad ~\n cell[1]:4: no\nFAIL\nTestA FAIL ~\nTestA/good ok ~\nTestA/bad FAIL ~\n! error: %test: TestA/bad failed"},
		{"parallel", []string{"func TestA(t *testing.T) {\n\tvar mu sync.Mutex\n\tn := 0\n\tt.Run(\"group\", func(t *testing.T) {\n\t\tfor i := range 3 {\n\t\t\tt.Run(fmt.Sprint(i), func(t *testing.T) {\n\t\t\t\tt.Parallel()\n\t\t\t\tmu.Lock()\n\t\t\t\tdefer mu.Unlock()\n\t\t\t\tn++\n\t\t\t})\n\t\t}\n\t})\n\tif n != 3 {\n\t\tt.Error(n)\n\t}\n}", "%test"},
			"PASS\nTestA ok ~\nTestA/group ok ~\nTestA/group/0 ok ~\nTestA/group/1 ok ~\nTestA/group/2 ok ~\n"},
		{"skip", []string{"func TestA(t *testing.T) { t.Skip(\"why\") }\nfunc TestB(t *testing.T) {\n\tif testing.Short() { t.SkipNow() }\n\tt.Fail()\n}", "%test -short"}, "PASS\nTestA skipped ~\nTestB skipped ~\n"},
		{"cleanup, directory, context, environment", []string{"var seen []string\nfunc TestA(t *testing.T) {\n\tdir := t.TempDir()\n\tt.Setenv(\"QUERN_TEST_X\", \"1\")\n\tctx := t.Context()\n\tt.Cleanup(func() {\n\t\t_, err := os.Stat(dir)\n\t\tseen = append(seen, fmt.Sprint(err == nil, ctx.Err(), os.Getenv(\"QUERN_TEST_X\")))\n\t})\n}", "%test\nseen"},
			"PASS\nTestA ok ~\n= [true context canceled1]"},
		{"panic", []string{"func at(s []int, i int) int {\n\treturn s[i]\n}\nfunc TestA(t *testing.T) {\n\tat(nil, 3)\n}\nfunc TestB(t *testing.T) {}", "%test"},
			"--- FAIL: TestA ~\n cell[1]:5:2 in TestA\n at(nil, 3)\n cell[1]:2:9 in at\n return s[i]\n runtime error: index out of range [3] with length 0\nFAIL\nTestA FAIL ~\nTestB ok ~\n! error: %test: TestA failed"},
		{"panic in a subtest", []string{"func TestA(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) { panic(\"oh\") })\n}\nfunc TestB(t *testing.T) {}", "%test"}, "--- FAIL: TestA ~\n --- FAIL: TestA/sub ~\n cell[1]:2:36 in a function literal of TestA\n t.Run(\"sub\", func(t *testing.T) { panic(\"oh\") })\n panic: oh\nFAIL\nTestA FAIL ~\nTestA/sub FAIL ~\nTestB ok ~\n! error: %test: TestA/sub failed"},
		{"panic in a cleanup", []string{"func TestA(t *testing.T) { t.Cleanup(func() { panic(\"late\") }) }", "%test"}, "--- FAIL: TestA ~\n cell[1]:1:47 in a function literal of TestA\n func TestA(t *testing.T) { t.Cleanup(func() { panic(\"late\") }) }\n panic: late\nFAIL\nTestA FAIL ~\n! error: %test: TestA failed"},
		{"panic in a helper goroutine of a benchmark", []string{"func BenchmarkA(b *testing.B) { b.RunParallel(func(p *testing.PB) { panic(\"oh\") }) }", "%test"}, "--- FAIL: BenchmarkA\n cell[1]:1:69 in a function literal of BenchmarkA\n func BenchmarkA(b *testing.B) { b.RunParallel(func(p *testing.PB) { panic(\"oh\") }) }\n panic: oh\nFAIL\nBenchmarkA FAIL ~\n! error: %test: BenchmarkA failed"},
		{"recovered panic", []string{"func TestA(t *testing.T) {\n\tdefer func() {\n\t\tif recover() == nil {\n\t\t\tt.Error(\"no panic\")\n\t\t}\n\t}()\n\tpanic(1)\n}", "%test"}, "PASS\nTestA ok ~\n"},
		{"goexit", []string{"func TestA(t *testing.T) { runtime.Goexit() }", "%test"}, "--- FAIL: TestA ~\n the test has called runtime.Goexit\nFAIL\nTestA FAIL ~\n! error: %test: TestA failed"},
		{"exit", []string{"func TestA(t *testing.T) { os.Exit(0) }\nfunc TestB(t *testing.T) {}", "%test"}, "--- FAIL: TestA ~\nFAIL\nTestA FAIL ~\n! error: %test: a test has called os.Exit(0)"},
		{"helper", []string{"func equal(t *testing.T, a, b int) {\n\tt.Helper()\n\tif a != b {\n\t\tt.Errorf(\"%d != %d\", a, b)\n\t}\n}\nfunc TestA(t *testing.T) {\n\tequal(t, 1, 2)\n}", "%test"}, "--- FAIL: TestA ~\n cell[1]:8: 1 != 2\nFAIL\nTestA FAIL ~\n! error: %test: TestA failed"},
		{"prints", []string{"func TestA(t *testing.T) {\n\tfmt.Println(\"a\")\n\tfmt.Fprintln(os.Stdout, \"b\")\n}", "%test\nfmt.Println(\"c\")"}, "a\nb\nPASS\nTestA ok ~\nc\n"},
		{"state", []string{"runs := 0\nfunc TestA(t *testing.T) { runs++ }", "%test -count 3\nruns"}, "PASS\nTestA ok ~\nTestA ok ~\nTestA ok ~\n= 3"},
		{"example", []string{"func ExampleHello() {\n\tfmt.Println(\"hello\")\n\t// Output: hello\n}\nfunc ExampleMany() {\n\tfmt.Println(\"b\\na\")\n\t// Unordered output:\n\t// a\n\t// b\n}\nfunc ExampleNotRun() { panic(1) }", "%test"}, "PASS\nExampleHello ok ~\nExampleMany ok ~\n"},
		{"example that fails", []string{"func ExampleHello() {\n\tfmt.Println(\"hello\")\n\t// Output: bye\n}", "%test"}, "--- FAIL: ExampleHello ~\ngot:\nhello\nwant:\nbye\nFAIL\nExampleHello FAIL ~\n! error: %test: ExampleHello failed"},
		{"example without output", []string{"func Example() {\n\t// Output:\n}\nfunc ExampleB() {\n\tfmt.Print(\"x\")\n\t// Output:\n}", "%test"}, "--- FAIL: ExampleB ~\ngot:\nx\nwant:\n\nFAIL\nExample ok ~\nExampleB FAIL ~\n! error: %test: ExampleB failed"},
		{"example that panics", []string{"func ExampleA() {\n\tpanic(\"oh\")\n\t// Output: x\n}", "%test"}, "--- FAIL: ExampleA ~\ngot:\npanic: oh\nwant:\nx\nFAIL\nExampleA FAIL ~\nstderr: cell[1]:2:2 in ExampleA\n panic(\"oh\")\npanic: oh\n! error: %test: ExampleA failed"},
		{"benchmark", []string{"func BenchmarkA(b *testing.B) {\n\tfor b.Loop() {\n\t\tstrings.Repeat(\"a\", 10)\n\t}\n}\nfunc TestA(t *testing.T) {}", "%test -bench . -run '^$' -benchtime 10x"}, "BenchmarkA 10 ~\nPASS\nBenchmarkA ok ~ ~\n"},
		{"benchmark by its name", []string{"func BenchmarkA(b *testing.B) {\n\tb.Run(\"sub\", func(b *testing.B) {\n\t\tfor range b.N {\n\t\t}\n\t})\n}\nfunc TestA(t *testing.T) {}", "%test -benchtime 5x BenchmarkA"}, "BenchmarkA/sub 5 ~\nPASS\nBenchmarkA ok ~\nBenchmarkA/sub ok ~ ~\n"},
		{"fuzz seeds", []string{"func FuzzA(f *testing.F) {\n\tf.Add(\"good\", 1)\n\tf.Add(\"bad\", 2)\n\tf.Fuzz(func(t *testing.T, s string, n int) {\n\t\tif s == \"bad\" {\n\t\t\tt.Error(s, n)\n\t\t}\n\t})\n}", "%test"},
			"--- FAIL: FuzzA ~\n --- FAIL: FuzzA/seed#1 ~\n cell[1]:6: bad 2\nFAIL\nFuzzA FAIL ~\nFuzzA/seed#0 ok ~\nFuzzA/seed#1 FAIL ~\n! error: %test: FuzzA/seed#1 failed"},
		{"TestMain", []string{"func TestMain(m *testing.M) {\n\tfmt.Println(\"before\")\n\tcode := m.Run()\n\tfmt.Println(\"after\", code)\n\tos.Exit(code)\n}\nfunc TestA(t *testing.T) { t.Fail() }", "%test"}, "before\n--- FAIL: TestA ~\nFAIL\nafter 1\nTestA FAIL ~\n! error: %test: TestA failed"},
		{"TestMain that hides a failure", []string{"func TestMain(m *testing.M) { m.Run(); os.Exit(0) }\nfunc TestA(t *testing.T) { t.Fail() }", "%test"}, "--- FAIL: TestA ~\nFAIL\nTestA FAIL ~\n! error: %test: TestA failed"},
		{"TestMain without Run", []string{"func TestMain(m *testing.M) {}\nfunc TestA(t *testing.T) {}", "%test"}, "! error: %test: TestMain has not called Run"},
		{"TestMain that fails", []string{"func TestMain(m *testing.M) { m.Run(); os.Exit(3) }\nfunc TestA(t *testing.T) {}", "%test"}, "PASS\nTestA ok ~\n! error: %test: the tests ended with exit status 3"},
		{"afterwards", []string{"func TestA(t *testing.T) {\n\tif !testing.Testing() {\n\t\tt.Fail()\n\t}\n}", "%test\ntesting.Testing()"}, "PASS\nTestA ok ~\n= false"},
		{"RunTests", []string{"func TestA(t *testing.T) {\n\tt.Error(\"x\")\n}\ntesting.RunTests(regexp.MatchString, []testing.InternalTest{{\"TestA\", TestA}})"}, "--- FAIL: TestA ~\n cell[1]:2: x\nFAIL\n= false"},
		{"Main", []string{"func TestA(t *testing.T) {\n\tt.Error(\"x\")\n}\ntesting.Main(regexp.MatchString, []testing.InternalTest{{\"TestA\", TestA}}, nil, nil)"}, "--- FAIL: TestA ~\n cell[1]:2: x\nFAIL\n! error: testing.Main: TestA failed"},
		{"Main that succeeds", []string{"func TestA(t *testing.T) {}\ntesting.Main(regexp.MatchString, []testing.InternalTest{{\"TestA\", TestA}}, nil, nil)\nfmt.Println(1)"}, "PASS\n1\n"},
		{"zero T", []string{"func TestA(t *testing.T) {\n\tt.Logf(\"%d\", 1)\n\tt.Errorf(\"wrong\")\n}\nt := &testing.T{}\nTestA(t)\nt.Failed()"}, "cell[1]:2: 1\ncell[1]:3: wrong\n= true"},
		{"zero T and FailNow", []string{"(&testing.T{}).Fatal(\"no\")"}, "cell[1]:1: no\n! runtime error: the cell has called runtime.Goexit"},
		{"zero T and Run", []string{"(&testing.T{}).Run(\"a\", func(t *testing.T) {})"}, "! panic: this testing.T or B has not been made by package testing: %test runs the tests of a notebook"},
		{"synctest", []string{"import \"testing/synctest\"\nfunc TestTime(t *testing.T) {\n\tsynctest.Test(t, func(t *testing.T) {\n\t\tbegan := time.Now()\n\t\tctx, cancel := context.WithTimeout(t.Context(), time.Hour)\n\t\tdefer cancel()\n\t\tdone := make(chan int)\n\t\tgo func() {\n\t\t\ttime.Sleep(30 * time.Minute)\n\t\t\tdone <- 1\n\t\t}()\n\t\tsynctest.Wait()\n\t\tselect {\n\t\tcase <-done:\n\t\tcase <-ctx.Done():\n\t\t\tt.Error(ctx.Err())\n\t\t}\n\t\tif d := time.Since(began); d != 30*time.Minute {\n\t\t\tt.Error(d)\n\t\t}\n\t\tt.Error(\"reached\")\n\t})\n}", "%test"}, "--- FAIL: TestTime ~\n cell[1]:21: reached\nFAIL\nTestTime FAIL ~\n! error: %test: TestTime failed"},
		{"synctest with a deadlock", []string{"import \"testing/synctest\"\nfunc TestTime(t *testing.T) {\n\tsynctest.Test(t, func(t *testing.T) {\n\t\t<-make(chan int)\n\t})\n}\nfunc TestB(t *testing.T) {}", "%test"}, "--- FAIL: TestTime ~\n cell[1]:3:2 in TestTime\n synctest.Test(t, func(t *testing.T) {\n in synctest.Test, compiled\n panic: deadlock: all goroutines in bubble are blocked (runtime.synctestDeadlockError)\nFAIL\nTestTime FAIL ~\nTestB ok ~\n! error: %test: TestTime failed"},
		{"synctest with wait groups and timers", []string{"import \"testing/synctest\"\nfunc TestTime(t *testing.T) {\n\tsynctest.Test(t, func(t *testing.T) {\n\t\tvar wg sync.WaitGroup\n\t\tvar n atomic.Int64\n\t\twg.Go(func() { time.Sleep(time.Hour); n.Add(1) })\n\t\ttime.AfterFunc(time.Minute, func() { n.Add(10) })\n\t\tfor range time.NewTicker(time.Second).C {\n\t\t\tif n.Add(1) > 5 { break }\n\t\t}\n\t\twg.Wait()\n\t\tsynctest.Wait()\n\t\tif n.Load() != 17 {\n\t\t\tt.Error(n.Load())\n\t\t}\n\t})\n}", "%test"}, "PASS\nTestTime ok ~\n"},
		{"Init", []string{"testing.Init()\ntesting.Verbose()"}, "= false"},
		{"Benchmark", []string{"testing.Benchmark(func(b *testing.B) {\n\tif b.N > 1 { panic(\"oh\") }\n})"}, "stderr: cell[1]:2:15\n if b.N > 1 { panic(\"oh\") }\npanic: oh\n! panic: oh"},
		{"AllocsPerRun", []string{"testing.AllocsPerRun(1, func() {}) >= 0"}, "= true"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNotebook(t)
			var got string
			for i, cell := range row.cells {
				if got = n.run(cell); i < len(row.cells)-1 && got != "" {
					t.Fatalf("cell %d: %s", i+1, got)
				}
			}
			got = durations.ReplaceAllString(got, "~")
			got = regexp.MustCompile(`(?m)^(goos|goarch|cpu|pkg): .*\n|-\d+\b`).ReplaceAllString(got, "")
			got = regexp.MustCompile(` +`).ReplaceAllString(strings.ReplaceAll(got, "\t", " "), " ")
			got = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(got, "")
			if got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

// An interrupt ends %test, and the next run works.
func TestInterruptOfTests(t *testing.T) {
	for _, row := range []struct{ name, body string }{
		{"loop", "for {}"}, {"sleep", "time.Sleep(time.Hour)"}, {"receive", "<-make(chan int)"}, {"select", "select {}"},
		{"subtest", "t.Run(\"sub\", func(t *testing.T) { for {} })"}, {"context", "<-t.Context().Done()"},
		{"recover", "defer func() { recover() }(); for {}"}, {"parallel", "t.Run(\"sub\", func(t *testing.T) { t.Parallel(); for {} })"},
		{"after an error", "t.Error(\"x\"); for {}"}, {"cleanup", "t.Cleanup(func() { for {} })"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNotebook(t)
			n.must(t, "func TestA(t *testing.T) {\n\tfmt.Println(\"go\")\n\t"+row.body+"\n}\nfunc TestB(t *testing.T) {}", "")
			if e := interruptAt(t, n, "%test"); e.Name != "interrupted" || e.Stuck {
				t.Fatal(e)
			}
			n.out.take()
			n.err.take()
			if got := n.run("%test B"); !strings.HasPrefix(got, "PASS\nTestB") {
				t.Error(got)
			}
		})
	}
}
