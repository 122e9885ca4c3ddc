"""The tools of agents: what the words of a name say that a tool does, its kind and output, and its arguments.

The verb of a tool's name must be its first or last word, and one of `things` among the others. In commands of a cloud,
and in tools of servers for one, the verb may be anywhere, and those of `alone` need no thing. The first row decides.
"""

from __future__ import annotations

from seasoned.command.rows import NameRow, ToolRow


def _names(action: str, why: str, *, verbs: str, things: str = "", alone: str = "", unless: str = "") -> NameRow:
    return NameRow(action, why, *(frozenset(words.split()) for words in (verbs, things, alone, unless)))


_NOT_PRODUCTION = "staging stage dev development preview test testing sandbox local draft dry"
# fmt: off
NAMES = (
    _names("rotate_keys", "replaces or deletes a key or secret",
        verbs="rotate regenerate revoke reset renew delete replace update create set unset put rm remove destroy "
        "disable add import bulk schedule upload purge",
        things="key keys secret secrets secretsmanager keyvault kms credential credentials token tokens certificate "
        "certificates cert csr password apikey passphrase"),
    _names("publish_package", "publishes to everyone",
        verbs="publish unpublish release",
        things="package packages release npm crate gem image version pypi docker artifact app extension library"),
    _names("wipe_database", "empties or drops a database",
        verbs="drop wipe truncate flush destroy purge reset erase empty clear delete rm flushall flushdb",
        things="database databases db table tables schema collections keyspace redis flushall flushdb rds dynamodb "
        "redshift elasticache sql spanner bigtable firestore alloydb pg postgres mysql mongo dataset",
        alone="flushall flushdb"),
    _names("migrate_database", "changes the schema of a database",
        verbs="migrate migration migrations rollback apply run alter",
        things="database db schema migration migrations table"),
    _names("transfer_funds", "moves money",
        verbs="transfer send pay wire withdraw payout refund charge create issue move submit capture confirm "
        "place execute",
        things="funds money payment payments payout payouts refund refunds transfer transfers charge charges invoice "
        "topups usd eur btc eth crypto wire withdrawal balance"),
    _names("modify_permissions", "changes who may do what",
        verbs="grant revoke modify change update set add remove assign attach detach edit invite make promote create "
        "delete put patch apply replace enable disable",
        things="permission permissions role roles rolebinding clusterrole clusterrolebinding serviceaccount acl policy "
        "access privilege privileges collaborator collaborators admin iam visibility owner rights nsg firewall"),
    _names("shutdown_service", "stops something that others may be using",
        verbs="shutdown stop terminate kill restart reboot disable suspend down halt drain cordon deallocate",
        things="service services server servers instance instances cluster vm vms container containers pod pods "
        "deployment machine node host system app application website dyno",
        alone="shutdown stop kill restart reboot suspend drain cordon evict deallocate poweroff"),
    _names("delete_data", "deletes what others may need",
        verbs="delete del remove rm rb destroy purge erase wipe empty bulkdelete truncate terminate undefine uninstall "
        "down prune cancel deregister",
        things="data user users account accounts customer customers record records row rows bucket buckets object "
        "objects repo repository project volume volumes backup backups snapshot snapshots disk page pages "
        "document documents index dataset blob blobs archive namespace everything all workspace contact contacts "
        "email emails events site many bulk collection topic topics queue stack domain domains dns deployment resource",
        alone="delete del remove rm rb destroy purge erase wipe terminate undefine uninstall down"),
    _names("deploy_production", "changes what runs for users",
        verbs="deploy rollout redeploy ship promote",
        alone="deploy rollback promote launch apply upgrade up install replace patch edit set scale autoscale expose "
        "label annotate taint update modify change sync submit import refresh",
        unless=_NOT_PRODUCTION),
    _names("exec_remote", "runs something on another machine",
        verbs="exec execute run ssh invoke send",
        things="remote ssh pod host hosts server instance node ssm ecs vm fleet remotely",
        alone="ssh exec console attach debug rsh"),
)
TOOLS = (
    ToolRow("terminal", "shell",
        "bash shell terminal exec_command local_shell local_shell_call container.exec run_shell_command "
        "execute_bash run execute_command run_command run_in_terminal run_terminal_cmd "
        "run_terminal_command terminal_command shell_command powershell cmd command bash_command "
        "mswea_bash_command execute_shell exec unified_exec write_stdin process bashoutput killshell "
        "killbash read_bash write_bash stop_bash list_bash shell_exec shell_view shell_wait cmdrun "
        "cmdrunaction monitor developer__shell execute_shell_command run_terminal_command_v2 "
        "get_terminal_output job_output job_kill run_commands bash_tool"),
    ToolRow("code", "python",
        "execute_code python code_interpreter execute_ipython_cell run_ipython ipython python_exec "
        "code_execution run_python jupyter execute_python python_interpreter repl js_repl "
        "code_execution_tool mcp__ide__executecode"),
    ToolRow("code", "api",
        "getdiagnostics mcp__ide__getdiagnostics lsp get_errors get_diagnostics codebase_investigator"),
    ToolRow("file", "file_read",
        "read read_file view open cat_file notebookread read_many_files view_file view_image "
        "read_media_file open_file scroll_up scroll_down goto set_cursors read_notebook read_text_file "
        "get_file_contents read_file_v2 fetch_rules read_files copilot_readfile"),
    ToolRow("file", "file_write",
        "edit multiedit write notebookedit edit_notebook apply_patch patch write_file replace create "
        "create_file str_replace_editor str_replace_based_edit_tool str_replace str_replace_edit "
        "edit_file insert replace_in_file write_to_file apply_diff delete_file move_file rename_file "
        "insert_edit_into_file search_replace edit_anthropic file_editor undo_edit smart_edit "
        "replace_string_in_file strreplace developer__text_editor text_editor insert_content "
        "search_and_replace new_rule edit_file_v2 reapply multi_replace_string_in_file delete_path "
        "move_path copy_path create_directory multi_edit editor"),
    ToolRow("file", "search",
        "glob grep ls search_files search_file_content grep_search file_search list_directory list_dir "
        "ls_dir search_dir search_file find_file find_files list_files codebase_search semantic_search "
        "search_code find_by_name rg filemap find multi_grep find_path list_code_definition_names "
        "ripgrep_raw_search glob_file_search semsearch sourcegraph finder search_codebase"),
    ToolRow("research", "web",
        "webfetch websearch web_search web_extract web_fetch web_search_call google_web_search fetch "
        "browse browse_interactive fetch_webpage fetch_url web_crawl x_search mcp__fetch__fetch "
        "read_url_content read_web_page agentic_fetch download codesearch fetch_web_content web.run "
        "web.search web.open_url browser.search browser.open"),
    ToolRow("research", "api",
        "browser browser_navigate browser_click browser_type browser_snapshot browser_scroll browser_back "
        "browser_press browser_close browser_get_images browser_vision browser_console web_browser_go "
        "web_browser_click web_browser_type web_browser_scroll web_browser_back web_browser_forward "
        "web_browser_refresh web_browser_type_submit vision_analyze video_analyze computer computer_use "
        "browser_action"),
    ToolRow("meta", "agent",
        "task agent delegate_task spawn_agent send_input wait_agent wait close_agent resume_agent "
        "send_message sendmessage delegate taskoutput taskstop taskget list_agents read_agent explore "
        "new_task oracle runsubagent subagent librarian dynamic_task__create_task"),
    ToolRow("meta", "meta",
        "skill skill_manage exitplanmode enterplanmode exit_plan_mode think finish submit toolsearch "
        "tool_search slashcommand cronjob croncreate crondelete cronlist schedulewakeup enterworktree "
        "exitworktree switch_mode project_create project_list project_switch text_to_speech "
        "image_generate send_file_to_user pushnotification request_permissions listmcpresourcestool "
        "readmcpresourcetool list_mcp_resources read_mcp_resource sleep attempt_completion "
        "plan_mode_respond access_mcp_resource load_mcp_documentation condense"),
    ToolRow("meta", "meta",
        "clarify memory fact_store fact_feedback session_search skill_view skills_list todo todowrite "
        "todoread update_plan taskcreate taskupdate tasklist write_todos manage_todo_list update_todo "
        "todo_write todo_read report_intent save_memory ask_user askuserquestion request_user_input "
        "ask_followup_question task_tracker update_todo_list store_memory set_plan todos task_list "
        "create_plan", trivial=True),
    # Seasoned's own tools are not experience: they are never mined and never count. Under the name of its MCP server
    # (`mcp__seasoned__recall`) every tool is one of these.
    ToolRow("meta", "meta",
        "warm_session recall request_confirmation confirmation_status wait_confirmation "
        "redeem_confirmation", trivial=True),
    # A name that other programs use as well: only in sessions of this agent.
    ToolRow("meta", "meta",
        "schedule", trivial=True, agent="seasoned"),
)
# Under which names agents pass the arguments of the tools that all of them have, the usual ones first.
MEANINGS = {
    "command": "command cmd script CommandLine commandLine",
    "path":
        "file_path path filename notebook_path target_file file filepath filePath relative_path absolute_path "
        "absolutePath TargetFile AbsolutePath dir_path uri relative_workspace_path",
    "old": "old_string old_str old_text search oldText oldString old_source",
    "new": "new_string new_str new_text replace newText newString new_source",
    "all": "replace_all replaceAll allow_multiple",
    "text": "content file_text contents file_content",
    "folder": "workdir cwd working_directory working_dir dir_path directory",
    "manner":
        "timeout timeout_ms timeout_seconds yield_time_ms max_output_tokens description explanation justification "
        "requires_approval initial_wait mode login",
}
# The tools that edit a file, and what each names the argument that replaces every occurrence; empty if it has none.
EDIT_TOOLS = {
    "Edit": "replace_all", "edit": "replace_all", "edit_file": "replace_all", "patch": "replace_all",
    "StrReplace": "replace_all", "replace": "allow_multiple", "replace_string_in_file": "",
}
