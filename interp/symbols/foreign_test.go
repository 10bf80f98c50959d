package symbols_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestForeign uses the compiled packages of other authors.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"mat", "a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})\nvar b mat.Dense\nb.Mul(a, a.T())\nmat.Sum(&b), math.Round(mat.Det(a))", "52, -2"},
		{"mat formatted", "fmt.Sprintf(\"%v\", mat.Formatted(mat.NewDense(1, 2, []float64{1, 2})))", `"[1  2]"`},
		{"interpreted matrix", "type one struct{}\nfunc (one) Dims() (r, c int) { return 2, 2 }\nfunc (one) At(i, j int) float64 { return 1 }\nfunc (o one) T() mat.Matrix { return o }\nmat.Sum(one{})", "4"},
		{"stat", "stat.Mean([]float64{1, 2, 3, 4}, nil), stat.Quantile(0.5, stat.Empirical, []float64{1, 2, 3}, nil)", "2.5, 2"},
		{"distuv", "distuv.UnitNormal.CDF(0), distuv.Normal{Mu: 1, Sigma: 2}.Mean()", "0.5, 1"},
		{"floats", "floats.Sum([]float64{1, 2, 3}), floats.MaxIdx([]float64{1, 5, 2})", "6, 1"},
		{"optimize", "p := optimize.Problem{Func: func(x []float64) float64 { return (x[0]-3)*(x[0]-3) + 1 }}\nr, err := optimize.Minimize(p, []float64{0}, nil, &optimize.NelderMead{})\nif err != nil { panic(err) }\nmath.Round(r.X[0]*1000)/1000, math.Round(r.F*1000)/1000", "3, 1"},
		{"plot", "p := plot.New()\np.Title.Text = \"t\"\nl, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 2}})\nif err != nil { panic(err) }\np.Add(l)\n" +
			"w, err := p.WriterTo(4*vg.Inch, 3*vg.Inch, \"svg\")\nif err != nil { panic(err) }\nvar s strings.Builder\n_, err = w.WriteTo(&s)\nerr == nil && strings.Contains(s.String(), \"<svg\")", "true"},
		{"uuid", "uuid.MustParse(\"f47ac10b-58cc-0372-8567-0e02b2c3d479\").Version(), len(uuid.NewString())", "VERSION_0, 36"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, err := interp.New(interp.Stdin(strings.NewReader("")), interp.Stdout(io.Discard), interp.Stderr(io.Discard))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			result, err := s.Execute(context.Background(), 1, row.in)
			var failed *interp.Error
			if errors.As(err, &failed) {
				t.Fatalf("%s: %s", row.in, failed.Error())
			}
			if got := result.Data["text/plain"]; got != row.want {
				t.Errorf("%s\n got %v\nwant %s", row.in, got, row.want)
			}
		})
	}
}
