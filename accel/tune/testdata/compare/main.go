// Command compare measures how low the searches of package tune come: for each function, the median over seeds of the
// value of the best trial. The program optuna_peer.py beside it does the same with Optuna.
//
//	go run ./accel/tune/testdata/compare -seeds 30 -trials 50
//
// Nothing in it depends on the time, so that it may run on a busy machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tune"
)

// function is what a search minimizes; the value of a trial is that of settings plus noise.
type function struct {
	name  string
	value func(t *tune.Trial) float64
	noise float64 // standard deviation
}

var functions = []function{
	{"Branin", branin, 0},
	{"rates", rates, 0},
	{"mixed", mixed, 0},
	{"Hartmann-6", hartmann, 0},
	{"noisy rates", rates, .5},
}

// branin has three equal minima of 0.397887.
func branin(t *tune.Trial) float64 {
	x, y := t.Float("x", -5, 10), t.Float("y", 0, 15)
	b, c, s := 5.1/(4*math.Pi*math.Pi), 5/math.Pi, 1/(8*math.Pi)
	return math.Pow(y-b*x*x+c*x-6, 2) + 10*(1-s)*math.Cos(x) + 10
}

// rates has its minimum 0 at 1e-3, 1e-2, 1e-4 and 10^-1.5.
func rates(t *tune.Trial) float64 {
	sum := 0.
	for i, at := range []float64{-3, -2, -4, -1.5} {
		sum += math.Pow(math.Log10(t.LogFloat(string(rune('a'+i)), 1e-5, 1))-at, 2)
	}
	return sum
}

// mixed has one minimum for each choice, the lowest of them 0 at x = 0.5, n = 20 and kind "b".
func mixed(t *tune.Trial) float64 {
	valleys := map[string]struct{ x, n, low float64 }{"a": {.2, 8, .04}, "b": {.5, 20, 0}, "c": {.8, 28, .02}}
	x, n := t.Float("x", 0, 1), float64(t.Int("n", 1, 32))
	v := valleys[t.Choice("kind", "a", "b", "c")]
	return 10*math.Pow(x-v.x, 2) + math.Pow((n-v.n)/8, 2) + v.low
}

// hartmann has its minimum -3.32237 inside the unit cube of six dimensions, and others that are not as low.
func hartmann(t *tune.Trial) float64 {
	height := []float64{1, 1.2, 3, 3.2}
	width := [][]float64{{10, 3, 17, 3.5, 1.7, 8}, {.05, 10, 17, .1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, .05, 10, .1, 14}}
	middle := [][]float64{
		{.1312, .1696, .5569, .0124, .8283, .5886}, {.2329, .4135, .8307, .3736, .1004, .9991},
		{.2348, .1451, .3522, .2883, .3047, .6650}, {.4047, .8828, .8732, .5743, .1091, .0381},
	}
	x := make([]float64, 6)
	for j := range x {
		x[j] = t.Float(fmt.Sprint("x", j), 0, 1)
	}
	sum := 0.
	for i, h := range height {
		distance := 0.
		for j, v := range x {
			distance += width[i][j] * math.Pow(v-middle[i][j], 2)
		}
		sum -= h * math.Exp(-distance)
	}
	return sum
}

// best returns the value without noise of the best trial with noise.
func (f function) best(method tune.Option, trials int, seed uint64) float64 {
	noise := rand.New(rand.NewPCG(seed, 99))
	var exact []float64
	search, err := tune.Run(context.Background(), func(t *tune.Trial) (float64, error) {
		v := f.value(t)
		exact = append(exact, v)
		return v + f.noise*noise.NormFloat64(), nil
	}, method, tune.Trials(trials), tune.Seed(seed), tune.Quiet())
	if err != nil {
		log.Fatal(err)
	}
	return exact[search.Best().Number-1]
}

func main() {
	trials, seeds := flag.Int("trials", 50, "trials of each search"), flag.Int("seeds", 30, "searches of each function")
	only := flag.String("only", "", "functions whose names contain this")
	flag.Parse()
	methods := []tune.Option{tune.Random(), tune.TPE(), tune.GP()}
	fmt.Printf("%-12s", "")
	for _, m := range methods {
		fmt.Printf("%24v", m)
	}
	fmt.Println()
	for _, f := range functions {
		if !strings.Contains(f.name, *only) {
			continue
		}
		fmt.Printf("%-12s", f.name)
		for _, m := range methods {
			var values []float64
			for seed := range *seeds {
				values = append(values, f.best(m, *trials, uint64(seed)+1))
			}
			fmt.Printf("%24s", quartiles(values))
		}
		fmt.Println()
	}
}

// quartiles returns the median, with the quartiles in parentheses.
func quartiles(values []float64) string {
	slices.Sort(values)
	at := func(share float64) float64 {
		i := share * float64(len(values)-1)
		low, high := values[int(math.Floor(i))], values[int(math.Ceil(i))]
		return low + (high-low)*(i-math.Floor(i))
	}
	return fmt.Sprintf("%.3f (%.3f–%.3f)", at(.5), at(.25), at(.75))
}
