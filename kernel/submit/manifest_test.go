package submit

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// example is a job with fixed names.
func example(change func(*Job)) *Job {
	j := &Job{
		Name: "nb", Notebook: "/shared/nb.ipynb", Output: "/shared/nb.executed.ipynb", Text: []byte("{\"cells\": []}\n"), Ranks: 8, GPUs: 1,
		Image: "registry.example.org/quern:1", Program: "quern", Flags: []string{"--param", `name="it's"`}, Secret: "5ec4e7", Runtime: "torch-distributed",
	}
	if change != nil {
		change(j)
	}
	return j
}

// TestManifests compares manifests with golden files, and those of Kubernetes with the schemas of the engines.
func TestManifests(t *testing.T) {
	schemas := readSchemas(t)
	for _, c := range []struct {
		name, engine string
		change       func(*Job)
	}{
		{"kubeflow.yaml", "kubeflow", nil},
		{"kubeflow_kueue_cpu.yaml", "kubeflow", func(j *Job) { j.Queue, j.GPUs = "team", 0 }},
		{"jobset.yaml", "jobset", nil},
		{"jobset_kueue.yaml", "jobset", func(j *Job) { j.Queue = "team" }},
		{"jobset_volcano.yaml", "jobset", func(j *Job) { j.Queue, j.Gang, j.Restarts = "team", true, 3 }},
		{"mpi.yaml", "mpi", nil},
		{"mpi_volcano.yaml", "mpi", func(j *Job) { j.Gang, j.Restarts = true, 1 }},
		{"slurm.sh", "slurm", nil},
		{"slurm_cpu.sh", "slurm", func(j *Job) { j.Queue, j.GPUs, j.Output = "short", 0, "/shared/50 %/it's.ipynb" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := example(c.change)
			text, err := Engines[c.engine].Manifest(j)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.name, []byte(text))
			k, ok := Engines[c.engine].(kubernetes)
			if !ok {
				return
			}
			for _, o := range k.objects(j) {
				for _, wrong := range schemas.check(t, o) {
					t.Error(wrong)
				}
			}
		})
	}
}

// TestSchemas checks that the schemas reject what the engines would.
func TestSchemas(t *testing.T) {
	schemas := readSchemas(t)
	for _, c := range []struct {
		name, wrong string
		change      func(spec object)
	}{
		{"unknown field", "spec.numProcPerNode is unknown", func(spec object) { spec["numProcPerNode"] = 1 }},
		{"missing field", "spec.runtimeRef is missing", func(spec object) { delete(spec, "runtimeRef") }},
		{"wrong type", "spec.trainer.numNodes: want integer", func(spec object) { spec["trainer"].(object)["numNodes"] = "8" }},
		{"unknown field in a list", "spec.trainer.env[0].values is unknown", func(spec object) { spec["trainer"].(object)["env"].(list)[0].(object)["values"] = 1 }},
		{"too long", "spec.trainer.image is longer than 500", func(spec object) { spec["trainer"].(object)["image"] = strings.Repeat("i", 501) }},
	} {
		objects := trainJob(example(nil))
		job := objects[len(objects)-1]
		c.change(job["spec"].(object))
		if got := schemas.check(t, job); !slices.Equal(got, []string{"TrainJob." + c.wrong}) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.wrong)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct {
		engine, wrong string
		change        func(*Job)
	}{
		{"kubeflow", "--image is missing", func(j *Job) { j.Image = "" }},
		{"jobset", "at most 1 MiB", func(j *Job) { j.Text = make([]byte, largestNotebook+1) }},
		{"kubeflow", "--gang", func(j *Job) { j.Gang = true }},
		{"kubeflow", "--restarts", func(j *Job) { j.Restarts = 1 }},
		{"slurm", "--gang and --restarts", func(j *Job) { j.Restarts = 1 }},
		{"slurm", "rename the folder", func(j *Job) { j.Output = "/a\"b/c.ipynb" }},
		{"ray", "--gang and --restarts", func(j *Job) { j.Gang = true }},
		{"ray", "Ray has no queues", func(j *Job) { j.Queue = "q" }},
	} {
		if text, err := Engines[c.engine].Manifest(example(c.change)); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %q, %v, want an error with %q", c.engine, text, err, c.wrong)
		}
	}
}

// schemas are OpenAPI schemas by kind, reduced to the fields that package submit writes. Each names its source, from which a field
// that is missing here must be taken.
type schemas map[string]struct{ Schema *schema }

type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Values     *schema            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Required   []string           `json:"required"`
	Enum       []any              `json:"enum"`
	Pattern    string             `json:"pattern"`
	MaxLength  int                `json:"maxLength"`
	MinLength  int                `json:"minLength"`
	MaxItems   int                `json:"maxItems"`
	Minimum    *int               `json:"minimum"`
	IntOrText  bool               `json:"x-kubernetes-int-or-string"`
}

func readSchemas(t *testing.T) schemas {
	t.Helper()
	text, err := os.ReadFile("testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schemas
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns what is wrong with an object.
func (s schemas) check(t *testing.T, o object) []string {
	t.Helper()
	kind := fmt.Sprint(o["kind"])
	of, ok := s[kind]
	if !ok {
		t.Fatalf("no schema for %s", kind)
	}
	return of.Schema.check(kind, o)
}

func (s *schema) check(path string, value any) (wrong []string) {
	add := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	kind := s.Type
	switch v := value.(type) {
	case object:
		if kind != "object" {
			add("%s: want %s", path, kind)
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				add("%s.%s is missing", path, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch of := s.Properties[name]; {
			case of != nil:
				wrong = append(wrong, of.check(path+"."+name, v[name])...)
			case s.Values != nil:
				wrong = append(wrong, s.Values.check(path+"."+name, v[name])...)
			default:
				add("%s.%s is unknown", path, name)
			}
		}
	case list:
		if kind != "array" {
			add("%s: want %s", path, kind)
			break
		}
		if s.MaxItems > 0 && len(v) > s.MaxItems {
			add("%s has more than %d elements", path, s.MaxItems)
		}
		for i, e := range v {
			wrong = append(wrong, s.Items.check(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case string:
		if kind != "string" && !s.IntOrText {
			add("%s: want %s", path, kind)
		}
		if s.MaxLength > 0 && len(v) > s.MaxLength {
			add("%s is longer than %d", path, s.MaxLength)
		}
		if len(v) < s.MinLength {
			add("%s is shorter than %d", path, s.MinLength)
		}
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			add("%s: %q does not match %s", path, v, s.Pattern)
		}
		if s.Enum != nil && !slices.Contains(s.Enum, any(v)) {
			add("%s: %q is none of %v", path, v, s.Enum)
		}
	case int:
		if kind != "integer" && !s.IntOrText {
			add("%s: want %s", path, kind)
		}
		if s.Minimum != nil && v < *s.Minimum {
			add("%s is less than %d", path, *s.Minimum)
		}
	case bool:
		if kind != "boolean" {
			add("%s: want %s", path, kind)
		}
	default:
		add("%s: unknown type %T", path, value)
	}
	return wrong
}

func TestYAML(t *testing.T) {
	got := yaml(object{
		"text": "plain", "flag": true, "number": 3, "words": list{"no", "Null", "3", "", " a", "a: b", "a:b", "-x", "it's", "a\nb", "<é>\u2028", "#", "a #", "/a/b.c"},
		"empty": object{}, "objects": list{object{"a": 1, "b": list{"x", list{"y", "z"}}}, object{}}, "some/key-1.x": object{"in": "ner"}, "on": "k",
	}, object{"next": "document"})
	golden.Check(t, "values.yaml", []byte(got))
}

func TestName(t *testing.T) {
	for _, c := range []struct{ notebook, want string }{
		{"/a/Train GPT_2.ipynb", "train-gpt-2-x1"},
		{"01-intro.ipynb", "notebook-01-intro-x1"},
		{"über.ipynb", "ber-x1"},
		{"日本.ipynb", "notebook-x1"},
		{strings.Repeat("long-", 20) + ".ipynb", "long-long-long-long-long-long-long-lo-x1"},
	} {
		got := Name(c.notebook, "x1")
		if got != c.want || CheckName(got) != nil {
			t.Errorf("%s: got %q, %v, want %q", c.notebook, got, CheckName(got), c.want)
		}
	}
	for _, name := range []string{"", "A", "1a", "-a", "a-", "a_b", "a.b", strings.Repeat("a", 41)} {
		if CheckName(name) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}
