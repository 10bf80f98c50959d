// Package active implements active learning: it selects the examples whose labels improve a
// model most.
//
// A [Pool] is a data set of which only some labels are known. [Query] selects the next examples
// with a [Strategy], and [Pool.Label] or [Ask] labels them:
//
//	pool := active.NewPool(train, 200, 42)
//	for pool.Len() < 2000 {
//		model := newModel()
//		run, err := accel.Fit(ctx, model, pool.Labeled(), accel.Quiet())
//		…
//		pick, err := active.Query(ctx, model, pool, active.Margin(), 200)
//		…
//		err = pool.Label(pick)
//	}
//
// The strategies:
//
//	Random                    the baseline
//	Margin                    the two most likely classes are close; a good default
//	LeastConfident, Entropy   other measures of uncertainty
//	Func                      a custom measure
//	BALD, BatchBALD           members of a dropout ensemble disagree
//	VoteEntropy, ConsensusEntropy,
//	MaxDisagreement, EnsembleBALD
//	                          models of a committee disagree
//	Deviation                 models of a committee disagree about targets: regression
//	BinaryEntropy             uncertain about several labels that are each 0 or 1
//	CoreSet                   examples that cover the pool
//	BADGE                     uncertain and diverse examples
//	TypiClust                 typical examples, for the very first labels
//	ExpectedError             labels that are expected to reduce the error most
//	Synthesize                new examples on the boundary between two classes
//
// [Compare] trains with several strategies and seeds, and reports how many labels and how many
// seconds each needs.
//
// [PseudoLabels] needs no answers: it labels the examples of which a model is sure.
//
// A pool of [Resume] writes each label to a file before the next question, so that no answer is
// lost. The questions of [Ask] go to an [Asker]: a person in a notebook (package
// widgets/labeling) or in a terminal ([Prompt]), or the labels of the data set ([Oracle]).
//
// A data set may have classes, or targets ([Pool.LabelTargets]). The examples may be files that nobody
// has labeled, see data.OpenUnlabeledImages: the file of [Resume] then has their names. For text,
// [Pool.ShowAs] sets what a person sees of an example.
//
// # Random numbers
//
// All random choices, including ties, depend only on the seed of the pool and the number of
// known labels, so the questions are the same after an interruption. The training of a model
// has its own seed, accel.Seed.
//
// # Duplicates
//
// Of several examples with the same values only one is selected; the others wait until no other
// examples are left.
//
// # Errors
//
// Typed errors: [*TooFewError], [*OneClassError], [*NotFiniteError], [*LabelError],
// [*SessionError], [ErrNoDropout], [ErrNoPool]. After an error nothing has been labeled. If
// the model cannot process the examples, the error is that of accel.Fit.
//
// # How the package works
//
// A strategy is a constructor, which says what it maximizes with its source, and Select. Those of a kind
// share a file: uncertainty.go, committee.go (members of an ensemble that disagree), diversity.go, and
// synthesize.go. candidates.go has what they select from. Selections are compared with other libraries by files in testdata, which
// testdata/make_golden.py writes.
package active
