"""A class's submissions: graded by several processes, noted as they come, so that a run that is killed can go on."""
