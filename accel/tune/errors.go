package tune

import "fmt"

// SettingError says what is wrong with a setting that an objective requested.
type SettingError struct {
	Name   string // of the setting
	Trial  int    // number of the trial, from 1
	Reason string // such as an empty range
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("tune: setting %q of trial %d: %s", e.Name, e.Trial, e.Reason)
}

// TrialError is the error of an objective, with the settings of the trial.
type TrialError struct {
	Trial *Trial // that failed
	Err   error  // of the objective
}

func (e *TrialError) Error() string {
	if len(e.Trial.Settings) == 0 {
		return fmt.Sprintf("tune: trial %d: %v", e.Trial.Number, e.Err)
	}
	return fmt.Sprintf("tune: trial %d with %s: %v", e.Trial.Number, e.Trial.settings(), e.Err)
}

// Unwrap returns the error of the objective.
func (e *TrialError) Unwrap() error { return e.Err }
