// Package compare holds the tables of a source database against the ones that a sink made of them, column by column.
//
// Both sides are read as text, by one pair of SQL expressions for each type of the source (types.go): the source's value in the form in which documents
// carry it, and the sink's column cast back to that form. Table compares rows by key; Changes judges the rows of a delta table, which are the list of a
// source table's changes; Same holds two tables of one sink against each other, such as those of a disturbed and of an undisturbed run.
package compare
