package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// createSubshell answers create_subshell_request with create_subshell_reply.
func (k *Kernel) createSubshell(context.Context, *request, empty) (wire.CreateSubshell, error) {
	id, err := k.subshells.create()
	return wire.NewCreateSubshell(id), err
}

// deleteSubshell answers delete_subshell_request with delete_subshell_reply. Requests
// that are waiting in the subshell are answered with an error.
func (k *Kernel) deleteSubshell(_ context.Context, _ *request, in wire.DeleteSubshell) (wire.EmptyReply, error) {
	return wire.NewEmptyReply(), k.subshells.remove(in.ID)
}

// listSubshell answers list_subshell_request with list_subshell_reply.
func (k *Kernel) listSubshell(context.Context, *request, empty) (wire.Subshells, error) {
	return wire.NewSubshells(k.subshells.list()), nil
}
