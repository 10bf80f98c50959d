package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/quernlab/quern/interp/module"
)

// Errors of the protocol beside those of JSON-RPC.
const (
	notInitialized = -32002
	requestFailed  = -32803
	canceled       = -32800
)

// pause is how long no message must arrive before the cells are checked for diagnostics: the time between two keys of
// somebody who types.
const pause = 150 * time.Millisecond

// Serve answers the messages of a client until it says exit, the stream ends or ctx is done. modules provides the modules of
// %get. The error is nil after a shutdown request, as the protocol has it.
func Serve(ctx context.Context, stream io.ReadWriteCloser, modules module.Source) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{modules: modules, encoding: utf16Encoding, arrived: make(chan struct{}, 1)}
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), s)
	defer s.conn.Close()
	err := s.run(ctx)
	if s.shutdown {
		return nil
	}
	return err
}

// A server has the documents of a client. One goroutine, which runs run, uses its fields; Handle adds messages.
type server struct {
	conn     *jsonrpc2.Conn
	modules  module.Source
	encoding string // of positions
	snippets bool   // completions may be snippets

	mu       sync.Mutex
	waiting  []*jsonrpc2.Request
	gaveUp   map[jsonrpc2.ID]bool // requests whose answer the client no longer wants
	stopIdle context.CancelFunc   // ends the check that runs while no message is waiting
	arrived  chan struct{}

	initialized bool
	shutdown    bool
	documents   []*document
	before      *before
}

// Handle implements [jsonrpc2.Handler]. It only queues the message.
func (s *server) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == "$/cancelRequest" {
		var p struct {
			ID jsonrpc2.ID `json:"id"`
		}
		waits := func(w *jsonrpc2.Request) bool { return !w.Notif && w.ID == p.ID }
		if r.Params != nil && json.Unmarshal(*r.Params, &p) == nil && slices.ContainsFunc(s.waiting, waits) {
			if s.gaveUp == nil {
				s.gaveUp = map[jsonrpc2.ID]bool{}
			}
			s.gaveUp[p.ID] = true
		}
		return
	}
	s.waiting = append(s.waiting, r)
	if s.stopIdle != nil {
		s.stopIdle()
	}
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// next returns the message that has waited longest, or nil, and whether the client still wants its answer.
func (s *server) next() (r *jsonrpc2.Request, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil, false
	}
	r = s.waiting[0]
	s.waiting = s.waiting[1:]
	wanted = !s.gaveUp[r.ID] || r.Notif
	delete(s.gaveUp, r.ID)
	return r, wanted
}

// run handles messages one after another, and checks the cells when none is waiting.
func (s *server) run(ctx context.Context) error {
	for {
		r, wanted := s.next()
		if r == nil {
			var idle <-chan time.Time
			if slices.ContainsFunc(s.documents, func(d *document) bool { return d.stale }) {
				idle = time.After(pause)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-s.conn.DisconnectNotify():
				return errors.New("the client has closed the connection without a shutdown request")
			case <-s.arrived:
			case <-idle:
				s.publish(ctx)
			}
			continue
		}
		if r.Method == "exit" {
			return errors.New("exit without a shutdown request")
		}
		result, err := s.handleSafely(ctx, r, wanted)
		if r.Notif {
			if err != nil {
				s.log(ctx, err)
			}
			continue
		}
		if err != nil {
			var e *jsonrpc2.Error
			if !errors.As(err, &e) {
				e = &jsonrpc2.Error{Code: requestFailed, Message: err.Error()}
			}
			err = s.conn.ReplyWithError(ctx, r.ID, e)
		} else {
			err = s.conn.Reply(ctx, r.ID, result)
		}
		if err != nil {
			return fmt.Errorf("answer of %s: %w", r.Method, err)
		}
	}
}

func (s *server) log(ctx context.Context, err error) {
	// The connection may have ended; then there is nobody to read it.
	_ = s.conn.Notify(ctx, "window/logMessage", map[string]any{"type": 1, "message": err.Error()})
}

// publish sends the diagnostics of the documents that have changed. It stops when a message arrives.
func (s *server) publish(ctx context.Context) {
	idle, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock()
	if len(s.waiting) > 0 {
		s.mu.Unlock()
		return
	}
	s.stopIdle = stop
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.stopIdle = nil
		s.mu.Unlock()
	}()
	for _, d := range s.documents {
		if !d.stale {
			continue
		}
		a, err := s.analysisSafely(idle, d)
		if idle.Err() != nil {
			return
		}
		d.stale = false
		if err != nil {
			s.log(ctx, err)
			continue
		}
		all := a.diagnostics(d, s.encoding)
		for _, uri := range slices.Sorted(maps.Keys(all)) {
			s.send(ctx, uri, all[uri])
		}
	}
}

func (s *server) send(ctx context.Context, uri string, list []diagnostic) {
	// An error means that the connection has ended, which run notices.
	_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", publishDiagnostics{uri, list})
}

// analysisSafely is analysis with panics as errors: an internal error does not end the server.
func (s *server) analysisSafely(ctx context.Context, d *document) (a *analysis, err error) {
	defer recovered(&err)
	return s.analysis(ctx, d)
}

// analysis checks the cells of a document if they have changed.
func (s *server) analysis(ctx context.Context, d *document) (a *analysis, err error) {
	if d.analysis == nil {
		d.analysis, err = analyze(ctx, d, s.modules)
	}
	return d.analysis, err
}

func (s *server) handleSafely(ctx context.Context, r *jsonrpc2.Request, wanted bool) (result any, err error) {
	defer recovered(&err)
	if !wanted {
		return nil, &jsonrpc2.Error{Code: canceled, Message: "the client has canceled the request"}
	}
	return s.handle(ctx, r)
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("internal error: %v\n%s", v, debug.Stack())}
	}
}

// decode reads the parameters of a message.
func decode[T any](r *jsonrpc2.Request) (*T, error) {
	var p T
	if r.Params == nil {
		return &p, nil
	}
	if err := json.Unmarshal(*r.Params, &p); err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", r.Method, err)}
	}
	return &p, nil
}

func (s *server) handle(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch {
	case r.Method == "initialize":
		p, err := decode[initializeParams](r)
		if err != nil {
			return nil, err
		}
		if slices.Contains(p.Capabilities.General.PositionEncodings, utf8Encoding) {
			s.encoding = utf8Encoding
		}
		s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
		s.initialized = true
		return map[string]any{"capabilities": capabilities(s.encoding), "serverInfo": map[string]any{"name": "quern lsp"}}, nil
	case !s.initialized:
		return nil, &jsonrpc2.Error{Code: notInitialized, Message: r.Method + ": send initialize first"}
	case r.Method == "shutdown":
		s.shutdown = true
		return nil, nil
	case s.shutdown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: r.Method + ": the server has been shut down"}
	case r.Notif:
		return nil, s.notified(ctx, r)
	}
	return s.answer(ctx, r)
}

// notified handles a message without an answer: a document was opened, changed or closed. It ignores others.
func (s *server) notified(ctx context.Context, r *jsonrpc2.Request) error {
	switch r.Method {
	case "textDocument/didOpen":
		p, err := decode[didOpen](r)
		if err == nil {
			s.open(plain(p.TextDocument.URI, p.TextDocument.Text))
		}
		return err
	case "textDocument/didChange":
		p, err := decode[didChange](r)
		if err != nil {
			return err
		}
		d, err := s.document(p.TextDocument.URI)
		if err != nil {
			return err
		}
		content, err := changed(d.content(), p.ContentChanges, s.encoding)
		if err != nil {
			return err
		}
		d.cells = plain(d.uri, content).cells
		d.changed()
		return nil
	case "textDocument/didClose":
		p, err := decode[didClose](r)
		if err != nil {
			return err
		}
		return s.close(ctx, p.TextDocument.URI)
	case "notebookDocument/didOpen":
		p, err := decode[didOpenNotebook](r)
		if err == nil {
			s.open(notebook(p))
		}
		return err
	case "notebookDocument/didChange":
		p, err := decode[didChangeNotebook](r)
		if err != nil {
			return err
		}
		d, err := s.document(p.NotebookDocument.URI)
		if err != nil {
			return err
		}
		d.changed()
		if p.Change.Cells.Structure != nil {
			for _, closed := range p.Change.Cells.Structure.DidClose {
				s.send(ctx, closed.URI, []diagnostic{})
			}
		}
		return d.change(p, s.encoding)
	case "notebookDocument/didClose":
		p, err := decode[didCloseNotebook](r)
		if err != nil {
			return err
		}
		return s.close(ctx, p.NotebookDocument.URI)
	}
	return nil
}

func (s *server) open(d *document) {
	s.documents = slices.DeleteFunc(s.documents, func(old *document) bool { return old.uri == d.uri })
	s.documents = append(s.documents, d)
	d.changed()
}

func (s *server) close(ctx context.Context, uri string) error {
	d, err := s.document(uri)
	if err != nil {
		return err
	}
	s.documents = slices.DeleteFunc(s.documents, func(x *document) bool { return x == d })
	for _, t := range d.cells {
		s.send(ctx, t.uri, []diagnostic{})
	}
	return nil
}

func (s *server) document(uri string) (*document, error) {
	for _, d := range s.documents {
		if d.uri == uri {
			return d, nil
		}
	}
	return nil, fmt.Errorf("the document %s has not been opened", uri)
}

// documentOf returns the document with the text of a URI, nil if it has not been opened.
func (s *server) documentOf(uri string) (d *document) {
	for _, open := range s.documents {
		if slices.ContainsFunc(open.cells, func(t *text) bool { return t.uri == uri }) {
			d = open
		}
	}
	return d
}

// answer answers a request about a document or a cell of a notebook.
func (s *server) answer(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	if r.Method == "completionItem/resolve" {
		item, err := decode[completionItem](r)
		if err != nil {
			return nil, err
		}
		return item, s.resolve(ctx, item)
	}
	p, err := decode[atPosition](r)
	if err != nil {
		return nil, err
	}
	uri := p.TextDocument.URI
	d := s.documentOf(uri)
	if d == nil {
		return nil, fmt.Errorf("%s: the document %s has not been opened", r.Method, uri)
	}
	switch r.Method {
	case "textDocument/formatting":
		return s.format(ctx, d, uri)
	case "textDocument/inlayHint", "textDocument/semanticTokens/full":
		a, err := s.analysis(ctx, d)
		if err != nil {
			return nil, err
		}
		if r.Method == "textDocument/inlayHint" {
			return a.hints(d, uri, p.Range, s.encoding), nil
		}
		return a.tokens(d, uri, s.encoding), nil
	}
	cell, offset, ok := d.find(uri, p.Position, s.encoding)
	if !ok {
		return nil, nil
	}
	t := d.cells[cell]
	switch r.Method {
	case "textDocument/hover", "textDocument/completion", "textDocument/signatureHelp":
		b, err := s.above(ctx, d, cell)
		switch {
		case err != nil:
			return nil, err
		case r.Method == "textDocument/hover":
			return b.hover(t.content, offset), nil
		case r.Method == "textDocument/completion":
			return b.complete(t, offset, s.encoding, s.snippets), nil
		}
		return b.signature(t.content, offset), nil
	}
	a, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	switch r.Method {
	case "textDocument/definition":
		return locations(d, a.definition(cell, offset), s.encoding), nil
	case "textDocument/references":
		return locations(d, a.references(cell, offset, p.Context.IncludeDeclaration), s.encoding), nil
	case "textDocument/documentHighlight":
		list := []highlight{}
		for _, place := range a.references(cell, offset, true) {
			if d.cells[place.cell].uri == uri {
				list = append(list, highlight{d.cells[place.cell].place(place.start, place.end, s.encoding)})
			}
		}
		return list, nil
	case "textDocument/prepareRename":
		n, ok := a.at(cell, offset)
		if !ok || n.key == "" {
			return nil, nil
		}
		return map[string]any{"range": t.place(n.start, n.end, s.encoding), "placeholder": n.text}, nil
	case "textDocument/rename":
		names, err := rename(ctx, d, a, cell, offset, p.NewName, s.modules)
		if err != nil {
			return nil, err
		}
		return renamedEdits(d, names, p.NewName, s.encoding), nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: r.Method + " is not supported"}
}
