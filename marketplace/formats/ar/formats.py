"""Arabic dates with a time, which Django's formats lack."""

DATETIME_FORMAT = "j F Y، H:i"
SHORT_DATETIME_FORMAT = "d/m/Y، H:i"
