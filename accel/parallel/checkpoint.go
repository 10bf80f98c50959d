package parallel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/atomicfile"
)

const (
	modelIndex = "model.safetensors.index.json"
	modelFile  = "model.safetensors"
)

// checkpointIndex is the file that lists the tensors of a checkpoint, in the format of Hugging Face's
// libraries.
type checkpointIndex struct {
	Metadata struct {
		TotalSize int    `json:"total_size"`                // bytes of all tensors
		Optimizer string `json:"quern.optimizer,omitempty"` // the index of the optimizer's state; "" for none
		Steps     int    `json:"quern.steps,omitempty"`     // of the optimizer
		// Updates is how often each parameter was updated.
		Updates map[string]int `json:"quern.updates,omitempty"`
	} `json:"metadata"`
	Files map[string]string `json:"weight_map"` // the file of each tensor
}

// Save writes the whole model, and the state of the optimizer unless that is nil, to a folder that all
// ranks share. All ranks call it together. Each writes a file with some of the tensors, and rank 0 lists
// them in model.safetensors.index.json, as Hugging Face's libraries do: [nn.Load] and those libraries
// read the folder as a model, and [DistributedModel.Load] reads it on any mesh.
//
// The folder may contain an earlier checkpoint, which is valid until the new one is complete: if a rank
// cannot write its file, for instance because the disk is full, all ranks get an error that names it, and
// the files of the earlier checkpoint are as they were.
func (m *DistributedModel) Save(ctx context.Context, folder string, opt *optim.Optimizer) error {
	d := m.distribution()
	s := &saving{distribution: d, ctx: ctx, folder: folder, replace: atomicfile.Replace}
	return s.save(opt)
}

// saving is one call of Save.
type saving struct {
	*distribution
	ctx     context.Context
	folder  string
	replace func(path string, write func(w io.Writer) error) error
	id      string // of the files of this checkpoint
	written []string
}

func (s *saving) save(opt *optim.Optimizer) (err error) {
	id, err := s.mesh.Group.Broadcast(s.ctx, 0, fmt.Appendf(nil, "%x", nonce()[:4]))
	if err != nil {
		return err
	}
	s.id = string(id)
	defer func() {
		if err != nil {
			for _, path := range s.written { // of the checkpoint that is not complete
				_ = os.Remove(path)
			}
			err = fmt.Errorf("parallel: save %s: %w", s.folder, err)
		}
	}()
	if err := s.mesh.Group.agree(s.ctx, os.MkdirAll(s.folder, 0o777)); err != nil {
		return err
	}
	var index checkpointIndex
	if err := s.writeShards(&index, "model", s.modelTensors()); err != nil {
		return err
	}
	if opt != nil {
		if err := s.saveOptimizer(&index, opt); err != nil {
			return err
		}
	}
	if err := s.writeIndex(modelIndex, index); err != nil { // from here on the checkpoint is valid
		return err
	}
	s.written = nil
	if s.mesh.Group.First() {
		return s.removeOthers()
	}
	return nil
}

// named is a tensor of a checkpoint, and what this rank has of it.
type named struct {
	name  string
	part  *part
	mine  *tensor.Tensor // nil for none
	dtype tensor.DType
}

func (d *distribution) modelTensors() (all []named) {
	for _, p := range d.parts {
		all = append(all, named{p.name, p, p.mine(), p.dtype})
	}
	return all
}

// writeShards gathers the tensors one by one, each on the rank that has fewest bytes so far, and writes
// one file on each rank. It adds them to the index.
func (s *saving) writeShards(index *checkpointIndex, kind string, all []named) error {
	g := s.mesh.Group
	files := map[string]string{}
	size := make([]int, g.Size())
	name := func(rank int) string {
		return fmt.Sprintf("%s-%s-%05d-of-%05d.safetensors", kind, s.id, rank+1, g.Size())
	}
	mine := map[string]*tensor.Tensor{}
	for _, t := range all {
		whole, err := s.wholeOf(s.ctx, t.part, t.mine, t.dtype)
		if err != nil {
			return err
		}
		writer := slices.Index(size, slices.Min(size))
		bytes := whole.Numel() * t.dtype.Size()
		size[writer] += bytes
		index.Metadata.TotalSize += bytes
		files[t.name] = name(writer)
		if writer == g.Rank() {
			mine[t.name] = whole
		} else {
			whole.Release()
		}
	}
	var failed error
	if len(mine) > 0 {
		path := filepath.Join(s.folder, name(g.Rank()))
		s.written = append(s.written, path)
		failed = s.replace(path, func(w io.Writer) error { return nn.WriteTensors(w, mine, nil) })
	}
	for _, t := range mine {
		t.Release()
	}
	index.Files = files
	return s.mesh.Group.agree(s.ctx, failed)
}

// saveOptimizer writes the state of the optimizer beside the model.
func (s *saving) saveOptimizer(index *checkpointIndex, opt *optim.Optimizer) error {
	state := opt.State()
	tensors, updates, err := s.union(s.ctx, state)
	if err != nil {
		return err
	}
	index.Metadata.Steps, index.Metadata.Updates = state.Steps, updates
	var others checkpointIndex
	if err := s.writeShards(&others, "optimizer", tensors); err != nil {
		return err
	}
	index.Metadata.Optimizer = fmt.Sprintf("optimizer-%s.safetensors.index.json", s.id)
	return s.writeIndex(index.Metadata.Optimizer, others)
}

// writeIndex writes an index, which rank 0 has.
func (s *saving) writeIndex(name string, index checkpointIndex) (err error) {
	if s.mesh.Group.First() {
		path := filepath.Join(s.folder, name)
		if name != modelIndex { // that of an earlier checkpoint is there until it is replaced
			s.written = append(s.written, path)
		}
		err = s.replace(path, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(index)
		})
	}
	return s.mesh.Group.agree(s.ctx, err)
}

// removeOthers removes the files of earlier checkpoints.
func (s *saving) removeOthers() error {
	var errs []error
	for _, pattern := range []string{"model-????????-?????-of-?????.safetensors", "optimizer-????????-?????-of-?????.safetensors", "optimizer-????????.safetensors.index.json"} {
		found, err := filepath.Glob(filepath.Join(s.folder, pattern))
		errs = append(errs, err)
		for _, path := range found {
			if !strings.Contains(filepath.Base(path), "-"+s.id) {
				errs = append(errs, os.Remove(path))
			}
		}
	}
	return errors.Join(errs...)
}

// Load reads a checkpoint that [DistributedModel.Save] has written, on this or another mesh, or the
// model of another program: a folder with model.safetensors, or with model.safetensors.index.json. With
// an optimizer it also reads its state, which the checkpoint must have. All ranks call it together, and
// each reads the tensors of which it has a part. If one cannot, all fail; the model is then undefined.
func (m *DistributedModel) Load(ctx context.Context, folder string, opt *optim.Optimizer) error {
	d := m.distribution()
	err := d.mesh.Group.agree(ctx, d.load(folder, opt))
	if err != nil {
		return fmt.Errorf("parallel: load %s: %w", folder, err)
	}
	return nil
}

func (d *distribution) load(folder string, opt *optim.Optimizer) (err error) {
	defer nn.Catch(&err)
	index, err := readIndex(folder, modelIndex)
	if errors.Is(err, os.ErrNotExist) {
		index, err = wholeFile(folder)
	}
	if err != nil {
		return err
	}
	source := &loading{folder: folder, index: index}
	defer func() { err = errors.Join(err, source.close()) }()
	for _, p := range d.parts {
		if _, ok := index.Files[p.name]; !ok {
			return fmt.Errorf("the checkpoint has no tensor %s", p.name)
		}
	}
	if len(index.Files) != len(d.parts) {
		return fmt.Errorf("the checkpoint has %d tensors, the model %d: it is of another model", len(index.Files), len(d.parts))
	}
	for _, p := range d.local {
		to := p.mine()
		if to == nil {
			continue
		}
		t, err := source.part(p, p.name, &p.dtype)
		if err != nil {
			return err
		}
		tensor.NoGrad(func() { to.Assign(t) })
		t.Release()
	}
	tensor.Flush()
	d.stale = true
	if opt == nil {
		return nil
	}
	return d.loadOptimizer(folder, index, opt)
}

// loadOptimizer reads this rank's part of the state of the optimizer.
func (d *distribution) loadOptimizer(folder string, index checkpointIndex, opt *optim.Optimizer) (err error) {
	if index.Metadata.Optimizer == "" {
		return errors.New("the checkpoint has no state of an optimizer: pass nil to start with a new one")
	}
	if index.Metadata.Optimizer != filepath.Base(index.Metadata.Optimizer) {
		return fmt.Errorf("the state of the optimizer is in %q, which is not beside the index", index.Metadata.Optimizer)
	}
	others, err := readIndex(folder, index.Metadata.Optimizer)
	if err != nil {
		return err
	}
	source := &loading{folder: folder, index: others}
	defer func() { err = errors.Join(err, source.close()) }()
	state := optim.State{Steps: index.Metadata.Steps, Updates: map[string]int{}, Tensors: map[string]*tensor.Tensor{}}
	for _, p := range d.local {
		n, ok := index.Metadata.Updates[p.name]
		if !ok || p.shard == nil {
			continue
		}
		state.Updates[p.name] = n
		for _, suffix := range []string{".first", ".second"} {
			if _, ok := others.Files[p.name+suffix]; !ok {
				continue
			}
			t, err := source.part(p, p.name+suffix, nil)
			if err != nil {
				return err
			}
			state.Tensors[p.name+suffix] = t
		}
	}
	return opt.SetState(state)
}

func readIndex(folder, name string) (index checkpointIndex, err error) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return index, err
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return index, &nn.CorruptFileError{Path: filepath.Join(folder, name), Err: fmt.Errorf("the index is not JSON: %w", err)}
	}
	for tensor, file := range index.Files {
		if file != filepath.Base(file) || file == ".." || file == "." {
			return index, &nn.CorruptFileError{Path: filepath.Join(folder, name), Err: fmt.Errorf("tensor %q is in %q, which is not a file beside the index", tensor, file)}
		}
	}
	return index, nil
}

// wholeFile returns an index of a model in one file.
func wholeFile(folder string) (index checkpointIndex, err error) {
	f, err := nn.Open(filepath.Join(folder, modelFile))
	if err != nil {
		return index, err
	}
	index.Files = map[string]string{}
	for _, name := range f.Names() {
		index.Files[name] = modelFile
	}
	return index, f.Close()
}

// loading reads tensors of a checkpoint.
type loading struct {
	folder string
	index  checkpointIndex
	files  map[string]*nn.File
}

func (l *loading) close() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// part reads this rank's part of a tensor that is divided as a parameter, and converts it to a type
// unless that is nil.
func (l *loading) part(p *part, name string, as *tensor.DType) (*tensor.Tensor, error) {
	file := l.index.Files[name]
	f := l.files[file]
	if f == nil {
		opened, err := nn.Open(filepath.Join(l.folder, file))
		if err != nil {
			return nil, err
		}
		if l.files == nil {
			l.files = map[string]*nn.File{}
		}
		f, l.files[file] = opened, opened
	}
	whole, err := f.Tensor(name)
	if err != nil {
		return nil, err
	}
	defer whole.Release()
	if !slices.Equal(whole.Shape(), p.whole) {
		return nil, fmt.Errorf("%s has shape %v in the checkpoint, but %v in the model", name, whole.Shape(), p.whole)
	}
	t := p.own(whole)
	if as == nil || *as == t.DType() {
		return t, nil
	}
	defer t.Release()
	return t.Cast(*as), nil
}
