package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// handler is a row of the table.
type handler struct {
	lane lane
	// handle returns the content of the reply.
	handle func(*Kernel, context.Context, *request) (content any, err error)
	// reply is the type of the reply; empty if the protocol has none.
	reply wire.Type
	// failed returns the content of a reply that reports an error.
	failed func(*Kernel, wire.Failure) any
}

// table has a row for each message type that clients may send on shell or control.
var table = map[wire.Type]handler{
	wire.ExecuteRequest:        {cells, on((*Kernel).execute), wire.ExecuteReply, (*Kernel).executeFailed},
	wire.HistoryRequest:        {cells, on((*Kernel).searchHistory), wire.HistoryReply, failed},
	wire.CommInfoRequest:       {comms, on((*Kernel).commInfo), wire.CommInfoReply, failed},
	wire.CommOpen:              {comms, on((*Kernel).commOpen), "", nil},
	wire.CommMsg:               {comms, on((*Kernel).commMsg), "", nil},
	wire.CommClose:             {comms, on((*Kernel).commClose), "", nil},
	wire.CompleteRequest:       {queries, on((*Kernel).complete), wire.CompleteReply, failed},
	wire.InspectRequest:        {queries, on((*Kernel).inspect), wire.InspectReply, failed},
	wire.IsCompleteRequest:     {queries, on((*Kernel).isComplete), wire.IsCompleteReply, failed},
	wire.KernelInfoRequest:     {control, on((*Kernel).kernelInfo), wire.KernelInfoReply, failed},
	wire.InterruptRequest:      {control, on((*Kernel).interrupt), wire.InterruptReply, failed},
	wire.ShutdownRequest:       {control, on((*Kernel).shutdown), wire.ShutdownReply, failed},
	wire.CreateSubshellRequest: {control, on((*Kernel).createSubshell), wire.CreateSubshellReply, failed},
	wire.DeleteSubshellRequest: {control, on((*Kernel).deleteSubshell), wire.DeleteSubshellReply, failed},
	wire.ListSubshellRequest:   {control, on((*Kernel).listSubshell), wire.ListSubshellReply, failed},
	wire.UsageRequest:          {control, on((*Kernel).usage), wire.UsageReply, failed},
}

// on adapts a method with typed content to a row's handle.
func on[In, Out any](method func(*Kernel, context.Context, *request, In) (Out, error)) func(*Kernel, context.Context, *request) (any, error) {
	return func(k *Kernel, ctx context.Context, r *request) (any, error) {
		var in In
		if err := r.Content(&in); err != nil {
			return nil, err
		}
		return method(k, ctx, r, in)
	}
}

func failed(_ *Kernel, failure wire.Failure) any { return wire.NewErrorReply(failure) }
