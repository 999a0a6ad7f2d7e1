"""Texts of several lines, as browsers send them."""

from django import forms

from shared.text_areas import TextArea


class NoteForm(forms.Form):
    note = forms.CharField(max_length=3, widget=TextArea())


def test_a_line_break_is_one_character():
    form = NoteForm({"note": "a\r\nb"})

    assert form.is_valid()
    assert form.cleaned_data == {"note": "a\nb"}
    assert 'maxlength="3"' in str(form["note"])
