"""Questions as requesters wrote them for Amazon's marketplace."""

HTML_QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!DOCTYPE html>{html}]]></HTMLContent>'
    "<FrameHeight>0</FrameHeight></HTMLQuestion>"
)


# As in Amazon's own documentation: its script, and its address to submit to.
WRITTEN_FOR_AMAZON = """
<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>
<form id="mturk_form" method="post" action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" value="" name="assignmentId" id="assignmentId">
<label>Comment <textarea name="comment"></textarea></label>
<input type="submit" id="submitButton" value="Submit"></form>
<a href="{survey}" target="_blank">Survey</a>
<script>turkSetAssignmentID();</script>"""
