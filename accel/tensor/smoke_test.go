package tensor

import "testing"

func TestTrainsAnMLP(t *testing.T) {
	g := NewGenerator(1)
	x := Randn(g, 64, 20)
	labels := make([]int, 64)
	for i, v := range x.Data() {
		if i%20 == 0 && v > 0 {
			labels[i/20] = 1
		}
	}
	y := FromInts(labels, 64)
	w1, b1 := Parameter(Randn(g, 32, 20).MulScalar(0.2)), Parameter(Zeros(32))
	w2, b2 := Parameter(Randn(g, 2, 32).MulScalar(0.2)), Parameter(Zeros(2))
	params := []*Tensor{w1, b1, w2, b2}
	ResetStats()
	var first, last float64
	for step := range 50 {
		h := Linear(x, w1, b1).ReLU()
		logits := Linear(h, w2, b2)
		loss := CrossEntropy(logits, y)
		loss.Backward()
		NoGrad(func() {
			for _, p := range params {
				p.Assign(p.Sub(p.Grad().MulScalar(0.5)))
			}
		})
		Flush()
		for _, p := range params {
			p.ZeroGrad()
		}
		last = loss.Item()
		if step == 0 {
			first = last
		}
	}
	t.Log(first, last, Stats())
	if !(last < first/4) {
		t.Fatalf("loss went from %v to %v", first, last)
	}
	if s := Stats(); s.PlansMade > 2 {
		t.Errorf("a steady step made %d plans", s.PlansMade)
	}
	t.Log(b2, w2)
}
