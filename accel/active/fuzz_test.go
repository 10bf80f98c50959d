package active

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/training/sealed"
)

// FuzzResume reads arbitrary files: either the file is rejected and unchanged, or the pool
// continues from it and writes lines that can be read again.
func FuzzResume(f *testing.F) {
	const head = `{"session":"quern labeling session 2","set":"examples","examples":5,"shape":[1],"classes":["0","1","2"],"sum":"SUM","initial":1,"seed":9}` + "\n"
	for _, lines := range []string{
		"", head, head + `{"examples":[2],"labels":[1]}` + "\n", head + `{"made":"AADgQA=="}` + "\n" + `{"examples":[5],"labels":[2]}` + "\n",
		head + `{"examples":[2,2],"labels":[1,1]}` + "\n", head + `{"examples":[2`, `{"session":"quern`, head + "{}\n", head + "null\n", head + `{"made":"////////"}` + "\n", "\n\n", head + head, "{\"a\":1}\nsomebody else's last line", head + `{"examples":[9],"labels":[0]}` + "\n" + `{"exa`,
	} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := five(t)
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		// A valid header needs the right hash, and lines need their checksums, which a fuzzer does not find.
		raw, sum := "", sealed.Sum(0)
		for line := range strings.Lines(strings.ReplaceAll(text, "SUM", hashExamples(s))) {
			if object, ok := strings.CutSuffix(line, "}\n"); ok {
				line = string(sum.Seal([]byte(object+"}"))) + "\n"
			}
			raw += line
		}
		if err := os.WriteFile(path, []byte(raw), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := Resume(path, s, 1, 1)
		if err != nil {
			if after, _ := os.ReadFile(path); string(after) != raw {
				t.Fatalf("a file that was refused, %v, is now %q", err, after)
			}
			return
		}
		for _, i := range p.order {
			if label, ok := p.Known(i); !ok || label < 0 || label > 2 {
				t.Fatalf("example %d has the label %d, %v", i, label, ok)
			}
		}
		if left := p.Unlabeled(); len(left) > 0 {
			if err := p.Label(left[:1], 2); err != nil {
				t.Fatal(err)
			}
		}
		want := p.Len()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := Resume(path, s, 1, 1)
		if err != nil || again.Len() != want {
			t.Fatalf("%v, %v; want %d labels", again, err, want)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
