package interp_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/quernlab/quern/interp"
)

// Compiled variadic methods can distinguish a call without arguments from one with an empty
// slice: without arguments Pool.Label uses the hidden labels, with an empty slice it fails.
func TestNoVariadicArguments(t *testing.T) {
	var out bytes.Buffer
	s, err := interp.New(interp.Output(func(int) (stdout, stderr io.Writer) { return &out, &out }))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, cell := range []string{
		"train, _, err := data.Digits()\npool := active.NewPool(train, 20, 42)",
		"fmt.Println(pool.Label(pool.Unlabeled()[:1]))",
		"func label() error { return pool.Label(pool.Unlabeled()[:1]) }\nfmt.Println(label())",
		"for range 1 { err = pool.Label(pool.Unlabeled()[:1]) }\nfmt.Println(err)",
		"fmt.Println((*active.Pool).Label(pool, pool.Unlabeled()[:1]))",
		"method := pool.Label\nfmt.Println(method(pool.Unlabeled()[:1]))",
		"func() {\n\tdefer func() { fmt.Println(pool.Len()) }()\n\tdefer pool.Label(pool.Unlabeled()[:1])\n}()",
		"fmt.Println(pool.Label(pool.Unlabeled()[:1], []int{}...))",
		"fmt.Println(errors.Join() == nil, fmt.Sprint() == \"\", fmt.Sprintf(\"%%\"))",
	} {
		if _, err := s.Execute(t.Context(), i+1, cell); err != nil {
			t.Fatalf("%s\n%v", cell, err)
		}
	}
	want := "<nil>\n<nil>\n<nil>\n<nil>\n<nil>\n26\nactive: Label: 0 labels for 1 examples\ntrue true %\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
