package active

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// libraries holds the results of other libraries, written by testdata/make_golden.py.
type libraries struct {
	Uncertainty struct {
		Probabilities  [][]float64
		LeastConfident ranked `json:"least confident"`
		Margin         ranked
		Entropy        ranked
	}
	Ensemble struct {
		Draws       [][][]float64
		BALD        []float64
		Vote        []float64 `json:"vote entropy"`
		Consensus   []float64 `json:"consensus entropy"`
		Divergence  []float64 `json:"max disagreement"`
		Information []float64
		Chosen      []int
	}
	CoreSet struct {
		Examples  [][]float32
		Labeled   []int
		Chosen    []int
		Distances []float64
	}
	BADGE struct {
		Features      [][]float32
		Probabilities [][]float64
		Chosen        []int
		Weights       [][]*float64
	}
	TypiClust struct {
		Examples  [][]float32
		Labeled   []int
		Neighbors int
		Chosen    []int
	}
	ExpectedError struct {
		Examples [][]float32
		Labels   []int
		Labeled  []int
		Chosen   []int
		Errors   []float64
	}
}

type ranked struct {
	Scores []float64
	Chosen []int
}

func golden(t *testing.T) *libraries {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(libraries)
	if err := json.Unmarshal(raw, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// isClose reports whether two numbers are equal up to rounding.
func isClose(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// identity returns a model whose logits are its input.
func identity() nn.Module { return nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x }) }

// asked returns a pool whose examples have these probabilities under identity, and two more
// examples with different labels.
func asked(t *testing.T, probabilities [][]float64) *Pool {
	t.Helper()
	classes := len(probabilities[0])
	var examples [][]float32
	for _, p := range probabilities {
		row := make([]float32, classes)
		for k, v := range p {
			row[k] = float32(math.Log(v))
		}
		examples = append(examples, row)
	}
	n := len(examples)
	for k := range 2 {
		row := make([]float32, classes)
		row[k] = 100 + float32(k)
		examples = append(examples, row)
	}
	labels := make([]int, n+2)
	labels[n+1] = classes - 1
	return labeledAs(t, set(t, examples, labels), n, n+1)
}

// set returns a data set with these examples.
func set(t *testing.T, examples [][]float32, labels []int) *data.Dataset {
	t.Helper()
	s, err := data.FromSlices(examples, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// labeledAs returns a pool with some labels revealed.
func labeledAs(t *testing.T, s *data.Dataset, pick ...int) *Pool {
	t.Helper()
	p := NewPool(s, 0, 1)
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	if err := p.Label(pick); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUncertaintyAsModAL(t *testing.T) {
	g := golden(t).Uncertainty
	for _, row := range []struct {
		strategy Strategy
		measure  func(p []float64) float64
		sign     float64 // of the library's score; -1 if lower is better
		want     ranked
	}{
		{LeastConfident(), leastConfident, 1, g.LeastConfident}, {Margin(), margin, -1, g.Margin}, {Entropy(), stat.Entropy, 1, g.Entropy},
	} {
		t.Run(row.strategy.String(), func(t *testing.T) {
			for i, p := range g.Probabilities {
				if got, want := row.measure(p), row.sign*row.want.Scores[i]; !isClose(got, want, 1e-9) {
					t.Errorf("%v scores %v, modAL %v", p, got, want)
				}
			}
			pick, err := Query(t.Context(), identity(), asked(t, g.Probabilities), row.strategy, len(row.want.Chosen))
			if err != nil {
				t.Fatal(err)
			}
			for k := range pick {
				if k > 0 && row.sign*row.want.Scores[pick[k-1]] < row.sign*row.want.Scores[pick[k]]-1e-6 {
					t.Errorf("example %d comes before %d, modAL's scores are %v and %v", pick[k-1], pick[k], row.want.Scores[pick[k-1]], row.want.Scores[pick[k]])
				}
			}
			slices.Sort(pick)
			if !slices.Equal(pick, row.want.Chosen) {
				t.Errorf("chosen are %v, by modAL %v", pick, row.want.Chosen)
			}
		})
	}
}

func TestEnsembleAsScikitActiveML(t *testing.T) {
	g := golden(t).Ensemble
	for i, got := range disagreement(g.Draws) {
		if !isClose(got, g.BALD[i], 1e-9) {
			t.Errorf("BALD of example %d is %v, want %v", i, got, g.BALD[i])
		}
	}
	for seed := range uint64(3) {
		chosen, err := jointDisagreement(t.Context(), g.Draws, len(g.Chosen), maxJoint, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(chosen, g.Chosen) {
			t.Errorf("BatchBALD chose %v, want %v", chosen, g.Chosen)
		}
		for limit, tolerance := range map[int]float64{maxJoint: 1e-9, 300: 1e-9, 100: 0.05} { // exact, exact, samples
			batch := newJoint(len(g.Draws), limit, rand.New(rand.NewPCG(seed, 1)))
			within := 0.0
			for k, i := range g.Chosen {
				for _, member := range g.Draws {
					within += stat.Entropy(member[i]) / float64(len(g.Draws))
				}
				if got := batch.with(g.Draws, i) - within; !isClose(got, g.Information[k], tolerance) {
					t.Errorf("limit %d: the information of %d examples is %v, want %v", limit, k+1, got, g.Information[k])
				}
				batch.add(g.Draws, i)
			}
		}
	}
}

func TestCommitteeAsModAL(t *testing.T) {
	g := golden(t).Ensemble
	members := make([]nn.Module, len(g.Draws))
	examples, labels := make([][]float32, len(g.Draws[0])), make([]int, len(g.Draws[0]))
	for i := range examples {
		examples[i], labels[i] = []float32{float32(i)}, i%3
	}
	for m, draw := range g.Draws {
		members[m] = nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
			var logits []float32
			for _, v := range x.Data() {
				for _, p := range draw[int(v)] {
					logits = append(logits, float32(math.Log(p)))
				}
			}
			return tensor.New(logits, x.Size(0), 3)
		})
	}
	for _, tt := range []struct {
		strategy Strategy
		scores   func(draws [][][]float64) []float64
		want     []float64
	}{
		{VoteEntropy(members...), voteEntropy, g.Vote},
		{ConsensusEntropy(members...), consensusEntropy, g.Consensus},
		{MaxDisagreement(members...), maxDisagreement, g.Divergence},
		{EnsembleBALD(members...), disagreement, g.BALD},
	} {
		for i, got := range tt.scores(g.Draws) {
			if !isClose(got, tt.want[i], 1e-9) {
				t.Errorf("%v of example %d is %v, want %v", tt.strategy, i, got, tt.want[i])
			}
		}
		p := labeledAs(t, set(t, examples, labels), 0, 1)
		pick, err := Query(t.Context(), nil, p, tt.strategy, 1)
		if err != nil {
			t.Fatal(err)
		}
		if best := slices.Max(tt.want[2:]); !isClose(tt.want[pick[0]], best, 1e-6) {
			t.Errorf("%v selected example %d with %v, but the highest score is %v", tt.strategy, pick[0], tt.want[pick[0]], best)
		}
	}
	one := labeledAs(t, set(t, examples, labels), 0, 1)
	if _, err := Query(t.Context(), nil, one, VoteEntropy(members[0]), 1); err == nil || !strings.Contains(err.Error(), "at least 2 models, got 1") {
		t.Errorf("a committee of one: %v", err)
	}
	if _, err := Query(t.Context(), nil, one, VoteEntropy(members[0], nil), 1); err == nil || !strings.Contains(err.Error(), "model 1") {
		t.Errorf("a committee with a nil model: %v", err)
	}
}

func TestCoreSetAsScikitActiveML(t *testing.T) {
	g := golden(t).CoreSet
	p := labeledAs(t, set(t, g.Examples, make([]int, len(g.Examples))), g.Labeled...)
	pick, err := Query(t.Context(), nil, p, CoreSet(), len(g.Chosen))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pick, g.Chosen) {
		t.Errorf("chosen are %v, want %v", pick, g.Chosen)
	}
}

func TestBADGEAsScikitActiveML(t *testing.T) {
	g := golden(t).BADGE
	gradients := newGradients(g.Probabilities, g.Features)
	weights := slices.Clone(gradients.norms)
	for k, at := range g.Chosen {
		total := 0.0
		for _, w := range weights {
			total += w
		}
		for i, want := range g.Weights[k] {
			if want != nil && !isClose(weights[i]/total, *want, 1e-9) {
				t.Errorf("choice %d: example %d has the weight %v, want %v", k, i, weights[i]/total, *want)
			}
		}
		gradients.closer(weights, at, false)
	}
}

func TestTypiClustAsScikitActiveML(t *testing.T) {
	g := golden(t).TypiClust
	p := labeledAs(t, set(t, g.Examples, make([]int, len(g.Examples))), g.Labeled...)
	pick, err := Query(t.Context(), nil, p, typiClust(g.Neighbors, nil), len(g.Chosen))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pick, g.Chosen) {
		t.Errorf("chosen are %v, want %v", pick, g.Chosen)
	}
}

func TestExpectedErrorAsModAL(t *testing.T) {
	g := golden(t).ExpectedError
	p := labeledAs(t, set(t, g.Examples, g.Labels), g.Labeled...)
	model := nn.Sequential(nn.Dense(3))
	pick, err := Query(t.Context(), model, p, ExpectedError(0), len(g.Chosen))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pick, g.Chosen) {
		t.Errorf("chosen are %v, want %v", pick, g.Chosen)
	}
	labeled, err := p.set.Subset(g.Labeled)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	for i := range labeled.Len() {
		rows = append(rows, labeled.Example(i))
	}
	head := newRegression(toFloat64(rows), p)
	if err := head.fit(); err != nil {
		t.Fatal(err)
	}
	for k, i := range g.Chosen {
		got, err := head.expected(toFloat64(g.Examples), i, p.Unlabeled())
		if err != nil {
			t.Fatal(err)
		}
		if !isClose(got, g.Errors[k], 1e-5) {
			t.Errorf("the error expected of example %d is %v, want %v", i, got, g.Errors[k])
		}
	}
}
