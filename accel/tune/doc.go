// Package tune searches for the settings with which a model learns best.
//
// An objective asks its [Trial] for settings where it needs them, trains, and
// returns what is to be small:
//
//	search, err := tune.Run(ctx, func(t *tune.Trial) (float64, error) {
//		model := nn.Sequential(nn.Flatten(), nn.Dense(t.Int("width", 16, 256)), nn.ReLU(), nn.Dense(10))
//		run, err := accel.Fit(ctx, model, train, accel.Epochs(9), accel.AdamW(t.LogFloat("rate", 1e-4, 1e-1)),
//			accel.Validate(test), accel.Quiet(), t.Watch())
//		return run.Loss(), err
//	}, tune.Trials(30), tune.TPE(), tune.Halving(1, 3))
//	search
//
// The figure of the best value so far and of the settings tried changes in place
// while the search goes on. [Grid], [Random] and [TPE] choose settings, [Halving]
// stops the trials that are behind, [Resume] goes on after an interrupt, and
// [Compare] measures which way of searching is worth it on equal budgets.
//
// A search is the same again with the same [Seed]: each trial draws from a stream
// of its own, and accel.Seed is called before each.
package tune
