// Package active asks for the labels that teach a model most: active learning.
//
// A [Pool] is a set of which only some labels are known. [Query] chooses the
// next examples by a [Strategy], and [Pool.Label] or [Ask] labels them:
//
//	pool := active.NewPool(train, 200, 42)
//	for pool.Len() < 2000 {
//		model := newModel()
//		run, err := accel.Fit(ctx, model, pool.Labelled(), accel.Quiet())
//		…
//		pick, err := active.Query(ctx, model, pool, active.Margin(), 200)
//		…
//		err = pool.Label(pick)
//	}
//
// The strategies:
//
//	Random                    the one that the others must beat
//	Margin                    the two most likely classes are close; a good default
//	LeastConfident, Entropy   other measures of what the model does not know
//	Func                      a measure of one's own
//	BALD, BatchBALD           members of a dropout ensemble disagree
//	CoreSet                   examples that cover the pool
//	BADGE                     uncertain ones, and different from each other
//	TypiClust                 typical ones, for the first labels of all
//	ExpectedError             labels that would lower the error most
//	Synthesize                new examples on the boundary between two classes
//
// [Compare] trains by several strategies over several seeds, and says how many
// labels each needs, and how many seconds.
//
// A pool of [Resume] writes each label to a file before the next question, so
// that nothing a person said is lost. Whom [Ask] asks is an [Asker]: a person in
// a notebook (package widgets/labelling), in a terminal ([Prompt]), or the labels
// that the set has ([Oracle]).
//
// # Chance
//
// Everything depends on the seed of the pool and on how many labels are known,
// ties too: the same questions come again after an interruption. A model that is
// trained in between has its own seed, accel.Seed.
//
// # Duplicates
//
// Examples with the same numbers are asked about once: a second one waits until
// no others are left.
//
// # Errors
//
// What cannot be done is an error that a program can tell apart:
// [*TooFewError], [*OneClassError], [*NotFiniteError], [*LabelError],
// [*SessionError], [ErrNoDropout], [ErrNoPool]. Nothing is labelled then. A model
// that cannot take the examples is an error as of accel.Fit.
//
// # For who changes this package
//
// A strategy is one file: what it maximises with its source, its constructor,
// and Select. Its choices are tested against other libraries by files under
// testdata, which testdata/make_golden.py writes.
package active
