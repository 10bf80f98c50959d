package kernel

import (
	"context"
	"runtime"
	"slices"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// execute answers execute_request with execute_reply. It publishes execute_input, the
// output as it is produced, and execute_result or error.
func (k *Kernel) execute(ctx context.Context, r *request, in wire.Execute) (any, error) {
	defer k.late.answered()
	if k.abort.aborts(r) {
		r.abortsQueued = r.received.Before(k.abort.replied) // cells that arrive before this reply are aborted too
		return wire.NewExecuteAborted(int(k.count.Load())), nil
	}
	count := int(k.count.Load())
	var cell int
	if in.StoreHistory {
		count = int(k.count.Add(1))
		cell = count
	} else {
		cell = link.Uncounted + int(k.uncounted.Add(1))
	}
	k.parents.set(cell, r.RawHeader)
	// Before the client can interrupt the cell because of what is published.
	stoppable, stop := context.WithCancel(ctx)
	defer stop()
	running := &execution{request: r, allowInput: in.AllowStdin, stop: stop}
	k.running.Store(running)
	defer k.running.Store(nil)
	if k.isInterrupted(r) {
		running.interrupted.Store(true)
	}
	if !in.Silent {
		k.publisher.publish(wire.ExecuteInput, r.RawHeader, wire.Input{Code: in.Code, ExecutionCount: count})
	}

	if asked, ok := link.Help(in.Code); ok {
		return k.help(ctx, r, in, count, asked), nil
	}
	k.publishLate(r, k.late.begin(cell, r.RawHeader, in.AllowStdin))
	var result link.Result
	defer func() {
		if in.Silent {
			k.late.endSilent()
		} else {
			k.publishLate(r, k.late.end(cell, result.Goroutines))
		}
	}()
	metadata := wire.NewExecuteMetadata(r.Metadata)
	if why := k.variablesLost(in); why != nil {
		return k.cellFailed(r, in, count, why), nil
	}
	result, err := k.worker.Execute(ctx, link.Execute{Cell: cell, Code: in.Code, Silent: in.Silent, ID: metadata.CellID, Deleted: metadata.Deleted, AllowInput: in.AllowStdin, Interactive: in.AllowStdin, Interrupted: &running.interrupted})
	k.publisher.end()

	if in.StoreHistory {
		text, _ := result.Data["text/plain"].(string)
		r.afterIdle = func() { k.remember(count, in.Code, text) }
	}
	why := k.variablesLost(in) // just before the cell, which has run in the next worker
	switch {
	case err != nil:
		result.Error = link.CellErrorOf(err)
	case why != nil && result.Error == nil:
		result.Error = why
	}
	if result.Error != nil {
		result.Error.Traceback = linked(result.Error, metadata.CellID)
		return k.cellFailed(r, in, count, result.Error), nil
	}
	if len(result.Data) > 0 && !in.Silent {
		k.publisher.publish(wire.ExecuteResult, r.RawHeader, wire.NewResult(count, result.Data, result.Metadata))
		// Other goroutines send the result. Let them run, so the client reads it while
		// this one prepares the reply.
		runtime.Gosched()
	}
	expressions := k.evaluate(stoppable, in.UserExpressions)
	k.publisher.end()
	var payload []wire.Payload
	if result.Replacement != "" {
		payload = append(payload, wire.NewReplacement(result.Replacement))
	}
	return wire.NewExecuteOK(count, expressions, payload...), nil
}

// variablesLost returns, once, why a worker has ended between cells: the error of the next cell, which would otherwise run
// without the variables of the cells above it, as if nothing had happened. Silent cells are not those of the user.
func (k *Kernel) variablesLost(in wire.Execute) *link.CellError {
	if in.Silent {
		return nil
	}
	why := k.lost.Swap(nil)
	if why == nil {
		return nil
	}
	return &link.CellError{Name: why.Name, Value: why.Value, Traceback: append(slices.Clone(why.Traceback),
		"It ended before this cell, and the variables are lost: run the cells again from the top.")}
}

// publishLate publishes late output of other cells with this cell as parent (see
// late.go).
func (k *Kernel) publishLate(r *request, messages []wire.Outgoing) {
	for _, m := range messages {
		m.Parent = r.RawHeader
		k.publisher.publishMessage(m)
	}
}

// cellFailed publishes the error of a cell and returns its reply. If the request has
// stop_on_error set, the queued cells are aborted.
func (k *Kernel) cellFailed(r *request, in wire.Execute, count int, why *link.CellError) wire.ExecuteFailed {
	failure := wire.NewFailure(why.Name, why.Value, why.Traceback)
	k.publisher.publish(wire.Error, r.RawHeader, failure)
	if in.StopOnError {
		k.arrivals.settle(k.finished)
		r.abortsQueued = true
	}
	return wire.NewExecuteFailed(count, failure)
}

// help answers a cell that asks for help on a name: with a page payload, which front ends show
// with the outputs or in a pane, or with an error if nothing was found. A client that cannot
// ask the user for input, such as nbconvert, has no user who reads a page: it gets a display.
func (k *Kernel) help(ctx context.Context, r *request, in wire.Execute, count int, asked link.Inspect) any {
	inspection, err := link.Ask(ctx, k.worker, asked)
	switch {
	case err != nil:
		return k.cellFailed(r, in, count, link.CellErrorOf(err))
	case len(inspection.Data) == 0:
		return k.cellFailed(r, in, count, asked.NotFound(inspection.Similar))
	}
	if !in.AllowStdin {
		if !in.Silent {
			k.publisher.publish(wire.DisplayData, r.RawHeader, wire.NewDisplay("", inspection.Data, nil))
		}
		return wire.NewExecuteOK(count, nil)
	}
	return wire.NewExecuteOK(count, nil, wire.NewPage(inspection.Data))
}

// executeFailed returns the reply to an execute_request that could not be handled.
func (k *Kernel) executeFailed(failure wire.Failure) any {
	return wire.NewExecuteFailed(int(k.count.Load()), failure)
}

// evaluate computes the user expressions of a cell.
func (k *Kernel) evaluate(ctx context.Context, expressions map[string]string) map[string]wire.Expression {
	if len(expressions) == 0 {
		return nil
	}
	evaluations, err := link.Ask(ctx, k.worker, link.Evaluate{Expressions: expressions})
	values := make(map[string]wire.Expression, len(expressions))
	for name := range expressions {
		value, ok := evaluations.Values[name]
		switch {
		case err != nil:
			values[name] = failedExpression(link.CellErrorOf(err))
		case !ok:
			values[name] = wire.NewFailedExpression(wire.NewFailure("kernel error", "the worker returned no value", nil))
		case value.Error != nil:
			values[name] = failedExpression(value.Error)
		default:
			values[name] = wire.NewExpression(value.Data, value.Metadata)
		}
	}
	return values
}

func failedExpression(why *link.CellError) wire.Expression {
	return wire.NewFailedExpression(wire.NewFailure(why.Name, why.Value, why.Traceback))
}
