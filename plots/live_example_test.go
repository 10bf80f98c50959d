package plots_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleNewLive() {
	live := plots.NewLive(context.Background(), nil)
	var losses []float64
	for step := range 3 {
		losses = append(losses, 1/float64(step+1))
		if live.Due() {
			now := append([]float64(nil), losses...)
			live.Update(func() *plots.Figure { return plots.Line("loss", now).Subtitle("running") })
		}
	}
	live.Update(func() *plots.Figure { return plots.Line("loss", losses).Subtitle("done") })
	live.Close()
	fmt.Println(len(losses), "steps")
}
