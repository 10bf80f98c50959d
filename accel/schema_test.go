package accel_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// TestSchemaIsSavedWithTheModel requires that a loaded model rejects data sets whose names differ
// from those that it was trained with, as the trained model does.
func TestSchemaIsSavedWithTheModel(t *testing.T) {
	train := flowers(t, "long,wide,kind", "1,0,2", "0,1,10", "1,1,1")
	newModel := func() nn.Module { return nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(3)) }
	model := newModel()
	if _, ok := accel.SchemaOf(model); ok {
		t.Error("an untrained model has a schema")
	}
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(1), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	first, second := filepath.Join(t.TempDir(), "model.safetensors"), filepath.Join(t.TempDir(), "again.safetensors")
	loaded, again := newModel(), newModel()
	for _, err := range []error{nn.Save(first, model), nn.Load(first, loaded), nn.Save(second, loaded), nn.Load(second, again)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, ok := accel.SchemaOf(again)
	if !ok || !slices.Equal(schema.Classes, []string{"1", "2", "10"}) || !slices.Equal(schema.Columns, []string{"long", "wide"}) {
		t.Errorf("the loaded model has the schema %+v, %v", schema, ok)
	}
	if _, err := accel.Evaluate(t.Context(), again, train); err != nil {
		t.Error(err)
	}
	swapped := flowers(t, "wide,long,kind", "0,1,2", "1,0,10", "1,1,1")
	other := flowers(t, "long,wide,kind", "1,0,2", "0,1,10")
	requireMismatch := func(what, want string, err error) {
		t.Helper()
		var mismatch *data.MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a MismatchError with %q", what, err, want)
		}
	}
	_, err := accel.Evaluate(t.Context(), again, swapped)
	requireMismatch("Evaluate", `column 0 is "wide"`, err)
	_, err = accel.Evaluate(t.Context(), again, other)
	requireMismatch("Evaluate", `class 0 is "2"`, err)
	_, err = accel.PredictDataset(t.Context(), again, swapped)
	requireMismatch("PredictDataset", `column 0 is "wide"`, err)
	_, err = accel.Fit(t.Context(), again, swapped, accel.Epochs(1), accel.Quiet())
	requireMismatch("Fit", `column 0 is "wide"`, err)
	if _, err := accel.Fit(t.Context(), again, flowers(t, "a,b,kind", "1,0,x", "0,1,y", "1,1,z"), accel.Epochs(1), accel.Quiet()); err != nil {
		t.Errorf("fine-tuning for another task: %v", err)
	}
}

// TestResumeChecksNames requires an error if the names of a data set have changed since a training
// was saved.
func TestResumeChecksNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "training")
	fit := func(set *data.Dataset) error {
		_, err := accel.Fit(t.Context(), nn.Dense(2), set.Named("flowers"), accel.Epochs(1), accel.Quiet(), accel.Resume(path))
		return err
	}
	if err := fit(flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose")); err != nil {
		t.Fatal(err)
	}
	var mismatch *data.MismatchError
	if err := fit(flowers(t, "wide,long,kind", "0,1,lily", "1,0,rose")); !errors.As(err, &mismatch) || mismatch.What != "column" {
		t.Errorf("got %v, want a MismatchError of a column", err)
	}
	if err := fit(flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose")); err != nil {
		t.Error(err)
	}
}

// TestReplaceHeadForgetsTheClasses requires that a model with a new last layer can be trained for
// classes that have the indices of the old ones.
func TestReplaceHeadForgetsTheClasses(t *testing.T) {
	train := flowers(t, "long,wide,kind", "1,0,a", "0,1,b", "1,1,c")
	few := flowers(t, "long,wide,kind", "1,0,b", "0,1,c")
	model := nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(3))
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(1), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	if _, err := nn.ReplaceHead(model, nn.Dense(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Fit(t.Context(), model, few, accel.Epochs(1), accel.Quiet()); err != nil {
		t.Errorf("after ReplaceHead: %v", err)
	}
}
