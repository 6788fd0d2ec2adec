# The page of `compare --report`, put together from assets/report/ and embedded in the program: a report must not fail
# because a file was not installed, and the page must be the one that belongs to the program's data.
set(report_folder ${PROJECT_SOURCE_DIR}/assets/report)
# In the order in which the browser meets them: classes before what makes them.
set(report_scripts elements tooltip summary table bars frame_times
  timeline_lanes timeline timeline_input timelines page)
list(TRANSFORM report_scripts PREPEND ${report_folder}/)
list(TRANSFORM report_scripts APPEND .js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${report_folder}/page.html ${report_folder}/page.css ${report_scripts})

file(READ ${report_folder}/page.css REPORT_CSS)
set(REPORT_JS "")
foreach(script IN LISTS report_scripts)
  file(READ ${script} text)
  string(APPEND REPORT_JS "${text}\n")
endforeach()
configure_file(${report_folder}/page.html report_page.html @ONLY)
file(READ ${CMAKE_CURRENT_BINARY_DIR}/report_page.html REPORT_PAGE)
configure_file(report_page.cpp.in report_page.cpp @ONLY)
target_sources(framelane_app PRIVATE report_html.cpp ${CMAKE_CURRENT_BINARY_DIR}/report_page.cpp)
