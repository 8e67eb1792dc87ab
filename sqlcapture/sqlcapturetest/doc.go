// Package sqlcapturetest proves the capture engine on a simulated database (simdb): it runs the real engine through many schedules of what the
// database does between the engine's calls, kills runs at any of them, resumes them from the last or an earlier checkpoint, and checks the output
// record by record against the database's history.
//
// What is checked is named by invariant: I1 convergence, I2 no older version after a newer one, I3 no gaps, I4 committed data only, I5 resume from
// every checkpoint, I6 state moves forward, I7 checkpoints at transaction boundaries, I8 nothing confirmed that is not durable, I14 a run that does
// not tail ends complete, I15 merge patches, I16 everything that a checkpoint covers is visible when it is emitted.
//
// A failing schedule is printed as SEED.CHOICES; `go test -run TestExplore -schedule SEED.CHOICES` runs exactly it. Start with Explore.
package sqlcapturetest
