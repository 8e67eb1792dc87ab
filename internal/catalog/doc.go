// Package catalog makes collections from JSON schemas, where no platform does: which locations may become fields, what is known of each, and which of them a
// binding materializes. `write` and `pipeline` use it.
//
// Start with Build and Select; Join is for a schema that changes while a pipeline runs.
package catalog
