package accel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

// Fit trains a model on a data set. Without options it trains for five epochs in batches of 64
// examples with AdamW at a learning rate of 1e-3.
//
// Each epoch uses the examples in a different order, which [Seed] determines. Fit puts the
// model into training mode and leaves it there.
//
// Fit returns the run so far also with an error: the error of ctx when ctx is done;
// [*DivergedError] when the loss becomes NaN or infinite; an error that names the layer and
// wraps [*ShapeError] when the model cannot take the examples. [*data.MismatchError] names a class,
// column or target whose index in the data set differs from that in the validation set, or in the
// data set that the model was trained with before.
//
// Only one Fit runs at a time: while it runs, a second one returns [ErrBusy]. Other goroutines
// may meanwhile evaluate and apply other models, which does not affect the training. They must
// not use the model that is being trained, since it is in training mode.
func Fit(ctx context.Context, model nn.Module, train *data.Dataset, options ...Option) (run *history.Run, err error) {
	run = &history.Run{Best: -1}
	defer nn.Catch(&err)
	o, err := newOptions(options)
	if err != nil {
		return run, err
	}
	switch {
	case model == nil:
		return run, errors.New("accel: Fit: the model is nil")
	case train == nil:
		return run, errors.New("accel: Fit: the training set is nil: check the error returned where it was created")
	case train.Unlabeled():
		return run, fmt.Errorf("accel: Fit: the examples of %s have no labels: add them with WithLabels, or label some in a pool of package active", train.Name())
	case train.Len() == 0:
		return run, fmt.Errorf("accel: Fit: %s is empty", train.Name())
	}
	if err := o.checkHardness(); err != nil {
		return run, err
	}
	if err := o.balanceClasses(train); err != nil {
		return run, err
	}
	if o.weights != nil {
		if err := data.CheckWeights(o.weights, train.Len()); err != nil {
			return run, fmt.Errorf("accel: Fit: %w", err)
		}
	}
	if o.byLength && o.weights != nil {
		return run, errors.New("accel: Fit: GroupByLength and a sampler with weights both set the order of the examples: leave one out")
	}
	schema := train.Schema()
	if t := trainedWith(model); t != nil {
		if err := t.schema.CheckOrder(train); err != nil {
			return run, fmt.Errorf("accel: Fit: the model was trained before: %w", err)
		}
	}
	if o.validate != nil {
		if err := schema.Check(o.validate); err != nil && (o.loss == nil || !isOtherKind(err)) {
			return run, fmt.Errorf("accel: Validate(%s): %w", o.validate.Name(), err)
		}
	}
	if err := o.mixer.check(train); err != nil {
		return run, err
	}
	if !oneFit.TryLock() {
		return run, ErrBusy
	}
	defer oneFit.Unlock()
	back, err := o.useDevice()
	if err != nil {
		return run, err
	}
	defer func() { err = joinErrors(err, back()) }()
	endRecompute, err := o.beginRecompute(ctx, model, train)
	if err != nil {
		return run, err
	}
	defer endRecompute()
	if prof.ToolAttached() {
		if stop, err := prof.NVTX(); err == nil { // NVTX ranges were not enabled by the program itself
			defer stop()
		}
	}
	l := newLoop(model, train, o)
	run = l.Run
	if l.strategy, err = newStrategy(ctx, o, l.Training, l.record); err != nil {
		return run, err
	}
	if !l.strategy.writes() {
		o.quiet, o.live, o.tensorBoard, o.track, o.saveBest = true, nil, "", "", ""
		o.energy, o.watts = false, 0
	}
	l.observe(ctx)
	returned := false
	defer func() { // also when the model panics
		ended := err
		if !returned {
			ended = errors.New("accel: Fit: the model has panicked")
		}
		l.end(ended)
		if len(run.Steps) > 0 {
			(&trainingRecord{schema: schema, loss: l.loss}).attach(model)
		}
		defer l.strategy.end(ended, returned)
		err = joinErrors(err, l.observers.end(ended))
	}()
	defer func() { // the gradients of the last step are not those of a loop that follows
		if l.watch != nil && returned && err == nil {
			l.watch.trained()
		}
		for _, p := range nn.Parameters(model) {
			p.ZeroGrad()
		}
	}()
	l.record.Peak(tensor.PeakBytes(func() { err = l.train(ctx) }))
	returned = true
	return run, err
}

// oneFit is locked by the Fit that runs.
var oneFit sync.Mutex

// observe creates the observers of the training: the user's, then those that other options
// need.
func (l *loop) observe(ctx context.Context) {
	training := *l.Training // a copy: what observers assign to its fields does not affect the loop
	l.observers = &observers{training: &training, all: slices.Clone(l.o.observers)}
	add := func(o history.Observer) { l.observers.all = append(l.observers.all, o) }
	for _, r := range l.o.recordings(ctx, l.record) {
		add(r)
	}
	if s, ok := l.schedule.(*optim.ReduceLROnPlateauSchedule); ok {
		add(&plateau{observe: s.Observe})
	}
	var stopping *earlyStopping
	if l.o.patience > 0 {
		stopping = &earlyStopping{record: l.record, patience: l.o.patience, criterion: l.o.criterion, judged: l.o.judged()}
		add(stopping)
	}
	if l.o.checkpoint != "" {
		l.resumption = &resumption{
			o: l.o, training: l.Training, record: l.record, position: &l.position, processes: l.strategy,
			optimizer: l.optimizer, scaler: l.precision.scaler, stopping: stopping,
		}
		add(l.resumption)
	}
	l.divergence = &divergence{
		record:            l.record,
		forward:           func(b data.Batch) { l.precision.cast(func() { l.forward(b) }) },
		stopSynchronizing: l.strategy.stopSynchronizing,
	}
	add(l.divergence)
	if e := newExaminer(l); e != nil {
		l.watch = e
		add(e) // the last one, whose End is the first: the model still has its last weights
	}
}
