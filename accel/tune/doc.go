// Package tune searches for hyperparameters.
//
// An objective requests settings from its [Trial] where it needs them, trains, and returns the
// value to minimize:
//
//	search, err := tune.Run(ctx, func(t *tune.Trial) (float64, error) {
//		model := nn.Sequential(nn.Flatten(), nn.Dense(t.Int("width", 16, 256)), nn.ReLU(), nn.Dense(10))
//		run, err := accel.Fit(ctx, model, train, accel.Epochs(9), accel.AdamW(t.LogFloat("rate", 1e-4, 1e-1)),
//			accel.Validate(test), accel.Quiet(), t.Watch())
//		return run.Loss(), err
//	}, tune.Trials(30), tune.TPE(), tune.Halving(1, 3))
//	search
//
// While the search runs, a figure shows the best value so far and the settings tried.
// [Grid], [Random], [TPE] and [GP] select settings, [Halving] stops unpromising trials early,
// [Resume] continues after an interrupt, [OnRanks] runs trials side by side on several GPUs or machines, and [Compare] compares search methods with equal
// budgets. [TPE] is the default; [GP] finds better settings in up to 200 trials of a value that
// changes smoothly with the settings.
//
// A search with the same [Seed] is reproducible: each trial has its own stream of random
// numbers, and accel.Seed is called before each trial.
package tune
