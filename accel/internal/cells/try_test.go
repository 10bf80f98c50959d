package cells

import ("os";"strings";"testing";"time")

func TestTry(t *testing.T) {
	text, err := os.ReadFile("testdata/projects/" + os.Getenv("PROJECT") + ".cells")
	if err != nil { t.Fatal(err) }
	s := string(text)
	if k := os.Getenv("SEED"); k != "1" {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "accel.Seed(1)", "accel.Seed("+k+")"), "NewGenerator(1)", "NewGenerator("+k+")")
	}
	t.Chdir(t.TempDir())
	n := newNotebook(t)
	for cell := range strings.SplitSeq(s, "---\n") {
		begin := time.Now()
		got, failure := n.run(cell)
		if failure != nil { t.Fatal(failure.Name, failure.Value, failure.Traceback) }
		t.Log(time.Since(begin), got)
	}
}
